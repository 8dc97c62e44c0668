package io.sparkconfig.core

import java.util.{Collections, LinkedHashMap => JLinkedHashMap, Map => JMap}

import com.fasterxml.jackson.databind.JsonNode

/** What the start of the side process says about policies. */
private[sparkconfig] final case class PolicyStart(
    evaluatesTables: Boolean,
    evaluatesStatements: Boolean,
    defaults: Map[String, String],
    auditLogger: Option[String],
    audit: Seq[String])

private[sparkconfig] object PolicyStart {
  def fromJson(node: JsonNode): Option[PolicyStart] = Option(node).filterNot(_.isNull).map { given =>
    PolicyStart(
      given.get("tables").asBoolean,
      given.path("statements").asBoolean,
      Json.fields(given.get("defaults")).map { case (key, text) => key -> text.asText }.toMap,
      Option(given.get("audit_logger")).filterNot(_.isNull).map(_.asText),
      Json.texts(given.get("audit")))
  }
}
