package org.apache.spark.sql.sparkconfig

import java.lang.reflect.{InvocationHandler, InvocationTargetException, Method, Proxy}

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.parser.{ParseException, ParserInterface}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.Origin

/** 3.5 has no rule before resolution, so its parser is the earliest place. The parsing itself stays as it is. */
object ParserHook {

  /** The first thing that happens to every name of a catalog is that it is parsed: prepares a session's catalogs. */
  def apply(session: Sessions.Spark, parser: ParserInterface, values: CatalogHook.Values): ParserInterface =
    around(parser) { (name, parse) =>
      if (name.startsWith("parsePlan") || name == "parseMultipartIdentifier") CatalogHook.install(session, values)
      parse()
    }

  /** Shows each parsed plan to `look`, which may refuse it. */
  def parsed(parser: ParserInterface, look: LogicalPlan => Unit): ParserInterface = around(parser) { (_, parse) =>
    val result = parse()
    result match {
      case plan: LogicalPlan =>
        // A proxy may throw only what the interface declares.
        try look(plan)
        catch { case e: AnalysisException => throw new ParseException(None, e.getMessage, Origin(), Origin()) }
      case _ => ()
    }
    result
  }

  private def around(parser: ParserInterface)(call: (String, () => AnyRef) => AnyRef): ParserInterface =
    Proxy.newProxyInstance(
      classOf[ParserHookMarker].getClassLoader,
      Array[Class[_]](classOf[ParserInterface]),
      new InvocationHandler {
        override def invoke(proxy: AnyRef, method: Method, arguments: Array[AnyRef]): AnyRef = call(
          method.getName,
          () =>
            try method.invoke(parser, Option(arguments).getOrElse(Array.empty[AnyRef]): _*)
            catch { case e: InvocationTargetException => throw e.getCause })
      }).asInstanceOf[ParserInterface]
}

private trait ParserHookMarker
