package org.apache.spark.sql.sparkconfig

import java.lang.reflect.{InvocationHandler, InvocationTargetException, Method, Modifier, Proxy}

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/**
 * Watches a session's parser. The parsing itself stays as it is. The parser becomes a proxy, which may throw only what
 * the interface declares and unchecked errors; so must the rules below.
 */
object ParserHook {

  /**
   * The first thing that happens to every name of a catalog is that it is parsed: prepares a session's catalogs. 3.5
   * has no earlier place.
   */
  def apply(session: Sessions.Spark, parser: ParserInterface, values: CatalogHook.Values): ParserInterface =
    around(parser) { (name, _, parse) =>
      if (name.startsWith("parsePlan") || name == "parseMultipartIdentifier") CatalogHook.install(session, values)
      parse()
    }

  /** Shows each parsed plan to `check`, which may refuse it. */
  def parsed(parser: ParserInterface, check: LogicalPlan => Unit): ParserInterface = around(parser) { (_, _, parse) =>
    val result = parse()
    result match {
      case plan: LogicalPlan => check(plan)
      case _ => ()
    }
    result
  }

  /** Shows the parts of each name that is a text of its own, such as an argument of a procedure. */
  def names(parser: ParserInterface, check: Seq[String] => Unit): ParserInterface = around(parser) { (_, _, parse) =>
    val result = parse()
    result match {
      case parts: Seq[_] => check(parts.map(_.toString))
      case _ => ()
    }
    result
  }

  /** Shows each expression that is a text of its own, such as a table's constraint. */
  def expressions(parser: ParserInterface, check: Expression => Unit): ParserInterface = around(parser) {
    (_, _, parse) =>
      val result = parse()
      result match {
        case tree: Expression => check(tree)
        case _ => ()
      }
      result
  }

  /** Shows each text to `check` before it is parsed. */
  def texts(parser: ParserInterface, check: String => Unit): ParserInterface =
    around(parser) { (name, arguments, parse) =>
      if (name.startsWith("parse")) arguments.headOption.foreach {
        case text: String => check(text)
        case _ => ()
      }
      parse()
    }

  private def around(parser: ParserInterface)(call: (String, Array[AnyRef], () => AnyRef) => AnyRef): ParserInterface =
    Proxy.newProxyInstance(
      parser.getClass.getClassLoader,
      interfaces(parser),
      new InvocationHandler {
        override def invoke(proxy: AnyRef, method: Method, arguments: Array[AnyRef]): AnyRef = {
          val given = Option(arguments).getOrElse(Array.empty[AnyRef])
          call(
            method.getName,
            given,
            () =>
              try method.invoke(parser, given: _*)
              catch { case e: InvocationTargetException => throw UncheckedParserException.of(e.getCause) })
        }
      }).asInstanceOf[ParserInterface]

  /** Iceberg looks for one of its own. */
  private def interfaces(parser: ParserInterface): Array[Class[_]] =
    Iterator.iterate[Class[_]](parser.getClass)(_.getSuperclass).takeWhile(_ != null)
      .flatMap(_.getInterfaces).filter(each => Modifier.isPublic(each.getModifiers)).toArray.distinct
}
