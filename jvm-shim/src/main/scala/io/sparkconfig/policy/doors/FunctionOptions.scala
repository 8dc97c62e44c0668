package io.sparkconfig.policy.doors

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.{ExpressionWithUnresolvedIdentifier, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.types.StringType

/**
 * Paths in calls of functions, before Spark evaluates anything: files of schemas for XML, Avro and Protobuf, as an
 * option or an argument. Anything but a literal could become any path there, so no rule can allow it.
 */
private[doors] object FunctionOptions {

  /** Functions with options that name files. */
  private val WithFiles =
    Set("from_xml", "schema_of_xml", "to_xml", "from_avro", "to_avro", "schema_of_avro") ++ Protobuf

  /** Options that only such functions have. */
  private val Telling = Seq("xsdpath", "schemaurl")

  private def Protobuf: Set[String] = Set("from_protobuf", "to_protobuf")

  /** The paths that this call names itself; its arguments are asked about one by one. */
  def paths(each: Expression): Seq[String] = each match {
    case call: UnresolvedFunction if isMap(call) => call.arguments.grouped(2).flatMap(ofEntry).toSeq
    case call: UnresolvedFunction =>
      val name = call.nameParts.last.toLowerCase(Locale.ROOT)
      if (!WithFiles(name)) Nil
      else
        call.arguments.flatMap(unknown) ++ (if (Protobuf(name)) call.arguments.slice(2, 3).flatMap(ofArgument) else Nil)
    // IDENTIFIER('from_xml')(...): Spark 3.5 keeps the arguments beside, later Sparks among the children.
    case named: ExpressionWithUnresolvedIdentifier if !isHarmless(named.identifierExpr) =>
      val arguments = named.children ++ named.productIterator.collect { case all: Seq[_] => all }.flatten
      arguments.collect { case argument: Expression => argument }.flatMap(unknown)
    case _ => Nil
  }

  private def isMap(call: UnresolvedFunction): Boolean = call.nameParts.last.equalsIgnoreCase("map")

  /** A key and a value of a map, of any function. */
  private def ofEntry(entry: Seq[Expression]): Seq[String] = entry match {
    case Seq(Literal(key, _), Literal(text, _)) if key != null && text != null =>
      StatementWalk.pathsIn(key.toString, text.toString)
    case Seq(Literal(key, _), value) if key != null && isTelling(key.toString) => Seq(open(value))
    case _ => Nil
  }

  /** What is not known yet in a map of options. */
  private def unknown(argument: Expression): Seq[String] = argument match {
    case call: UnresolvedFunction if isMap(call) =>
      call.arguments.grouped(2).collect {
        case Seq(Literal(key, _), value)
            if key != null && !value.isInstanceOf[Literal] &&
              StatementWalk.isPath(key.toString) => open(value)
        case Seq(key, _) if !key.isInstanceOf[Literal] => open(key)
      }.toSeq
    case _ => Nil
  }

  /** Protobuf's file of descriptors; its content may stand there, too. */
  private def ofArgument(argument: Expression): Seq[String] = argument match {
    case Literal(text, _: StringType) if text != null => Seq(text.toString)
    case _: Literal => Nil
    case call: UnresolvedFunction if isMap(call) => Nil
    case other => Seq(open(other))
  }

  private def isHarmless(name: Expression): Boolean = name match {
    case Literal(text, _) if text != null =>
      !WithFiles(text.toString.split('.').last.replace("`", "").trim.toLowerCase(Locale.ROOT))
    case _ => false
  }

  private def isTelling(key: String): Boolean = Telling.exists(key.toLowerCase(Locale.ROOT).endsWith)

  private def open(tree: Expression): String = "${" + tree.sql + "}"
}
