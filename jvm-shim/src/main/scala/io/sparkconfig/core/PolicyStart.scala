package io.sparkconfig.core

import java.util.{Collections, LinkedHashMap => JLinkedHashMap, Map => JMap}

import com.fasterxml.jackson.databind.JsonNode

/**
 * What the start of the side process says about policies.
 *
 * @param paths on a shared server, the patterns of paths that are allowed to anybody
 * @param confs the same of the confs whose values users see
 * @param sessions how many a user may have at once
 */
private[sparkconfig] final case class PolicyStart(
    evaluatesTables: Boolean,
    evaluatesStatements: Boolean,
    defaults: Map[String, String],
    auditLogger: Option[String],
    audit: Seq[String],
    paths: Option[Seq[String]] = None,
    confs: Option[Seq[String]] = None,
    surface: Seq[String] = Nil,
    sessions: Int = Int.MaxValue)

private[sparkconfig] object PolicyStart {
  def fromJson(node: JsonNode): Option[PolicyStart] = Option(node).filterNot(_.isNull).map { given =>
    PolicyStart(
      given.get("tables").asBoolean,
      given.path("statements").asBoolean,
      Json.fields(given.get("defaults")).map { case (key, text) => key -> text.asText }.toMap,
      Option(given.get("audit_logger")).filterNot(_.isNull).map(_.asText),
      Json.texts(given.get("audit")),
      Option(given.get("paths")).filterNot(_.isNull).map(Json.texts),
      Option(given.get("confs")).filterNot(_.isNull).map(Json.texts),
      Json.texts(given.get("surface")),
      given.path("sessions").asInt(Int.MaxValue))
  }
}
