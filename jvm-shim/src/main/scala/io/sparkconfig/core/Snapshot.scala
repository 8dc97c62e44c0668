package io.sparkconfig.core

import java.util.Base64

import com.fasterxml.jackson.databind.JsonNode

/**
 * The values of all expressions in use, read in one round: one immutable generation.
 *
 * @param generation grows with each change; a newer one never gives way to an older one
 * @param values expression id to value
 * @param secrets ids of the values that hold secrets
 * @param redact the secrets in them, which no sink may show: the values of references, never texts around them
 * @param files what clients need as files, by id; their markers are in the values until this process has written them
 * @param travelling the values with markers, of which `values` has paths of this process
 * @param redactOf the same by expression, for those that came after a whole snapshot
 * @param connection the number of the connection to the side process that it came over
 */
final case class Snapshot(
    generation: Long,
    values: Map[String, String],
    secrets: Set[String],
    files: Map[String, StoredFile] = Map.empty,
    travelling: Option[Map[String, String]] = None,
    redact: Set[String] = Set.empty,
    redactOf: Map[String, Seq[String]] = Map.empty,
    connection: Long = 0L) {

  def get(expression: Expression): Option[String] = values.get(expression.id)

  /** What redaction masks. Texts composed around references are not among it: their number has no bound. */
  def secretValues: Iterable[String] =
    redact ++ redactOf.valuesIterator.flatten ++ files.values.flatMap(_.secretTexts)

  /** The same with paths instead of markers. */
  def placed(paths: Map[String, String]): Snapshot =
    copy(
      values = values.map { case (id, value) =>
        id -> paths.foldLeft(value) { case (text, (marker, path)) => text.replace(marker, path) }
      },
      travelling = Some(values))

  /** The generation that the side process describes by what differs from this one, which has no files. */
  def changedBy(news: JsonNode): Snapshot = {
    val entries = Json.fields(news.get("values")).toList
    val gone = Json.texts(news.get("removed")) ++ entries.map(_._1)
    copy(
      generation = news.get("generation").asLong,
      values = values -- gone ++ entries.map { case (id, entry) => id -> entry.get("value").asText },
      secrets = secrets -- gone ++ entries.collect { case (id, entry) if entry.path("secret").asBoolean(true) => id },
      redactOf = redactOf -- gone ++ entries.map { case (id, entry) => id -> Json.texts(entry.get("redact")) })
  }

  /** The part of it that `wanted` names by ids. */
  def only(wanted: String => Boolean): Snapshot =
    Snapshot(
      generation,
      values.filter { case (id, _) => wanted(id) },
      secrets.filter(wanted),
      redact = redact,
      redactOf = redactOf.filter { case (id, _) => wanted(id) })

  /** This generation with the expressions that another part of it holds. */
  def and(part: Snapshot): Snapshot = copy(
    values = values ++ part.values,
    secrets = secrets ++ part.secrets,
    files = files ++ part.files,
    travelling =
      if (travelling.isEmpty && part.travelling.isEmpty) None
      else Some(travelling.getOrElse(values) ++ part.travelling.getOrElse(part.values)),
    redact = redact ++ part.redact,
    redactOf = redactOf ++ part.redactOf)

  /** Never the values. */
  override def toString: String = s"Snapshot(generation=$generation, expressions=${values.size})"

  /** For another process, which writes the files itself. */
  def toJson: JsonNode = {
    val node = Json.obj()
    node.put("generation", generation)
    node.set[JsonNode]("values", entries(travelling.getOrElse(values), withFiles = true))
    val masked = node.putArray("redact")
    (redact ++ redactOf.valuesIterator.flatten).foreach(masked.add(_))
    if (files.nonEmpty) {
      val contents = node.putObject("files")
      files.foreach { case (id, file) =>
        val content = contents.putObject(id)
        content.put("name", file.name)
        content.put("content", Base64.getEncoder.encodeToString(file.content))
      }
    }
    node
  }

  /** The values of this process, for those that run beside it. */
  def localValues: JsonNode = entries(values, withFiles = false)

  private def entries(shown: Map[String, String], withFiles: Boolean): JsonNode = {
    val node = Json.obj()
    shown.foreach { case (id, value) =>
      val entry = node.putObject(id)
      entry.put("value", value)
      entry.put("secret", secrets(id))
      val held = if (withFiles) files.values.filter(file => value.contains(file.marker)) else Nil
      if (held.nonEmpty) {
        val ids = entry.putArray("files")
        held.foreach(file => ids.add(file.id))
      }
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
      entries.collect { case (id, entry) if entry.path("secret").asBoolean(true) => id }.toSet,
      Json.fields(node.path("files")).map { case (id, file) =>
        id -> new StoredFile(id, file.get("name").asText, Base64.getDecoder.decode(file.get("content").asText))
      }.toMap,
      redact = Json.texts(node.path("redact")).toSet)
  }
}
