package io.sparkconfig.binding

import com.fasterxml.jackson.databind.JsonNode
import io.sparkconfig.agent.Json

/**
 * The values of all expressions in use, read in one round: one immutable generation.
 *
 * @param generation grows with each change; a newer one never gives way to an older one
 * @param values expression id to value
 * @param secrets which of the values are to be redacted wherever they could be shown
 */
final case class Snapshot(generation: Long, values: Map[String, String], secrets: Set[String]) {
  def get(expression: Expression): Option[String] = values.get(expression.id)

  def secretValues: Iterable[String] = secrets.flatMap(values.get)

  /** The part of it that `wanted` names by ids. */
  def only(wanted: String => Boolean): Snapshot =
    Snapshot(generation, values.filter { case (id, _) => wanted(id) }, secrets.filter(wanted))

  /** Never the values. */
  override def toString: String = s"Snapshot(generation=$generation, expressions=${values.size})"

  def toJson: JsonNode = {
    val node = Json.obj()
    node.put("generation", generation)
    val entries = node.putObject("values")
    values.foreach { case (id, value) =>
      val entry = entries.putObject(id)
      entry.put("value", value)
      entry.put("secret", secrets(id))
    }
    node
  }
}

object Snapshot {
  val Empty: Snapshot = Snapshot(0L, Map.empty, Set.empty)

  def fromJson(node: JsonNode): Snapshot = {
    val entries = Json.fields(node.get("values")).toList
    Snapshot(
      node.get("generation").asLong,
      entries.map { case (id, entry) => id -> entry.get("value").asText }.toMap,
      entries.collect { case (id, entry) if entry.path("secret").asBoolean(true) => id }.toSet)
  }
}
