package io.sparkconfig.policy.doors

import java.util.Locale

import scala.util.Try

import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.catalyst.analysis.{
  ExpressionWithUnresolvedIdentifier,
  PlanWithUnresolvedIdentifier,
  UnresolvedFunction
}
import org.apache.spark.sql.catalyst.expressions.{CreateMap, Expression, Literal, NamedArgumentExpression}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.StringType

/**
 * Calls of functions as a statement writes them, before Spark evaluates anything. Some take a type, options of a format
 * or a file of the server. What is not a literal there could become anything, so no rule can allow it.
 */
private[doors] object FunctionCalls {

  /** @param name in lower case, without its catalog and database; empty: not known */
  final case class Call(name: String, arguments: Seq[Expression])

  def of(each: Expression): Option[Call] = each match {
    case call: UnresolvedFunction => Some(Call(call.nameParts.last.toLowerCase(Locale.ROOT), call.arguments))
    // IDENTIFIER('from_xml')(...), or a column.
    case named: ExpressionWithUnresolvedIdentifier => nameOf(named.identifierExpr) match {
        case Some(parts) => built(named, parts).flatMap(of)
        case None => built(named, Seq("")).flatMap(of)
      }
    case _ => None
  }

  /** A call by a name without a database: a function of a user's own may be called like one that is built in. */
  def builtIn(each: Expression): Option[Call] = each match {
    case call: UnresolvedFunction if call.nameParts.size > 1 => None
    case other => of(other)
  }

  /** A table function: its name and its other arguments in the plan. */
  def table(name: Any, beside: Seq[Any]): Call = {
    val last = name match {
      case parts: Seq[_] => parts.lastOption.mkString
      case other => other.toString
    }
    val arguments = beside.collect { case all: Seq[_] => all }.flatten.collect { case each: Expression => each }
    Call(last.toLowerCase(Locale.ROOT), arguments)
  }

  /** The resolved node, if its name is `parts`; Spark 3.5 keeps the arguments in the function. */
  def built(named: ExpressionWithUnresolvedIdentifier, parts: Seq[String]): Option[Expression] =
    named.productIterator.drop(1).toList match {
      case List(build: Function1[Seq[String], Expression] @unchecked) => Some(build(parts))
      case List(
            arguments: Seq[Expression] @unchecked,
            build: Function2[Seq[String], Seq[Expression], Expression] @unchecked) =>
        Some(build(parts, arguments))
      case _ => None
    }

  /**
   * IDENTIFIER in the place of a table's name: what is to be looked at instead, and whether nobody knows it. Spark 3.5
   * makes the relation of it before rules see its name; later Sparks show them the name.
   */
  def table(named: PlanWithUnresolvedIdentifier): (Option[LogicalPlan], Boolean) =
    if (!SPARK_VERSION.startsWith("3.")) (None, false)
    else {
      val made = named.productIterator.toList match {
        case List(name: Expression, build: Function1[Seq[String], LogicalPlan] @unchecked) => nameOf(name).map(build)
        // Since 3.5.2.
        case List(
              name: Expression,
              children: Seq[LogicalPlan] @unchecked,
              build: Function2[Seq[String], Seq[LogicalPlan], LogicalPlan] @unchecked) =>
          nameOf(name).map(build(_, children))
        case _ => None
      }
      (made, made.isEmpty)
    }

  /**
   * What a call asks about.
   *
   * @param format whose options it takes
   * @param options that it sets
   * @param paths that it reads
   * @param type whether a text may name a class there
   * @param open whether it has anything but literals where it sets options, or an XPath that calls what is not listed
   */
  final case class Asked(
      format: String,
      options: Map[String, String],
      paths: Seq[String],
      `type`: Boolean,
      open: Boolean)

  /** @param places as a surface file says: `json type=1 options=2`, arguments counted from 0 */
  def asked(call: Call, places: String): Asked = {
    val words = places.split(' ').toSeq
    def at(what: String): Seq[Expression] =
      words.filter(_.startsWith(s"$what=")).flatMap(word => call.arguments.lift(word.drop(what.length + 1).toInt))
    val maps = at("options").filterNot(_.isInstanceOf[Literal]).map(entries)
    val paths = at("path").flatMap {
      case Literal(text, _: StringType) => Option(text).map(_.toString)
      case _: Literal => None
      case other if entries(other).isDefined => None
      case other => Some("${" + other.sql + "}")
    }
    // Without a file of descriptors the name before it is that of a class.
    val isClass = words.exists(_.startsWith("path=")) && !at("path").exists {
      case Literal(value, _) => value != null
      case other => entries(other).isEmpty
    }
    // Which argument it is cannot be told by its place then.
    val isNamed = call.arguments.exists(_.isInstanceOf[NamedArgumentExpression])
    Asked(
      words.head,
      maps.flatten.flatten.toMap,
      paths,
      at("type").exists(TypeTexts.isOpen),
      isNamed || isClass || maps.exists(_.isEmpty) || at("xpath").exists(XPaths.isOpen))
  }

  /** The entries of `map(...)`; None: they are not all literals. */
  private def entries(argument: Expression): Option[Seq[(String, String)]] = {
    val arguments = argument match {
      case made: CreateMap => Some(made.children) // on Spark 3.5 functions inside of others may be resolved by now
      case other => builtIn(other).filter(_.name == "map").map(_.arguments)
    }
    arguments.flatMap { all =>
      val pairs = all.grouped(2).map {
        case Seq(Literal(key, _), Literal(text, _)) if key != null && text != null =>
          Some(key.toString -> text.toString)
        case _ => None
      }.toSeq
      if (pairs.forall(_.isDefined)) Some(pairs.flatten) else None
    }
  }

  private def nameOf(name: Expression): Option[Seq[String]] = name match {
    case Literal(text, _) if text != null => Try(CatalystSqlParser.parseMultipartIdentifier(text.toString)).toOption
    case _ => None
  }
}
