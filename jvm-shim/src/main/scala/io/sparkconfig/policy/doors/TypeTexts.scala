package io.sparkconfig.policy.doors

import java.util.Locale

import scala.collection.JavaConverters._
import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode
import io.sparkconfig.core.Json
import org.apache.spark.sql.catalyst.analysis.{ExpressionWithUnresolvedIdentifier, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}

/**
 * Types that a statement writes as a text. As JSON they may name a class of the server, whose constructor runs when
 * Spark reads the text. What is neither a literal nor a schema that Spark infers could become such a text.
 */
private[doors] object TypeTexts {

  /** Functions, and at which place they take a type. */
  private val Places =
    Map("from_json" -> 1, "from_csv" -> 1, "from_xml" -> 1, "variant_get" -> 2, "try_variant_get" -> 2)
  private val Inferring = Set("schema_of_json", "schema_of_csv", "schema_of_xml", "schema_of_variant")

  /** Their values are literals of the same statement. */
  private val Parameters = Set("NamedParameter", "PosParameter")

  def mayNameClass(each: Expression): Boolean = each match {
    case Literal(text, _) => text != null && holdsUdt(text.toString)
    case call: UnresolvedFunction =>
      Places.get(call.nameParts.last.toLowerCase(Locale.ROOT)).exists(isOpen(call.arguments, _))
    case named: ExpressionWithUnresolvedIdentifier =>
      val arguments = named.children.filterNot(_ == named.identifierExpr) ++
        named.productIterator.collect { case all: Seq[_] => all }.flatten.collect { case each: Expression => each }
      nameOf(named.identifierExpr) match {
        case Some(name) => Places.get(name).exists(isOpen(arguments, _))
        case None => Places.values.exists(isOpen(arguments, _))
      }
    case _ => false
  }

  private def isOpen(arguments: Seq[Expression], place: Int): Boolean =
    arguments.lift(place).exists {
      case _: Literal => false // it is looked at by itself
      case call: UnresolvedFunction => !Inferring(call.nameParts.last.toLowerCase(Locale.ROOT))
      case other => !Parameters(other.getClass.getSimpleName)
    }

  private def nameOf(name: Expression): Option[String] = name match {
    case Literal(text, _) if text != null =>
      Some(text.toString.split('.').last.replace("`", "").trim.toLowerCase(Locale.ROOT))
    case _ => None
  }

  private def holdsUdt(text: String): Boolean =
    (text.contains("\"type\"") || text.contains("\\u")) &&
      Try(Json.parse(text)).toOption.fold(text.contains("udt") || text.contains("\\u"))(isUdt)

  private def isUdt(node: JsonNode): Boolean =
    node != null && (node.path("type").asText == "udt" || node.elements.asScala.exists(isUdt))
}
