package io.sparkconfig.redaction.engine

import java.util.regex.{Pattern => Regex}

import com.fasterxml.jackson.databind.JsonNode
import io.sparkconfig.core.Json

/** The constants of redaction: Python goes by the same file, which both wheel and jar carry. */
private[redaction] object Constants {
  private val data: JsonNode = {
    val stream = getClass.getResourceAsStream("/io/sparkconfig/redaction/redaction.json")
    if (stream == null) throw new IllegalStateException("the jar of sparkconfig holds no redaction.json")
    try Json.parse(stream.readAllBytes())
    finally stream.close()
  }

  /** How many comparisons one text may cost; beyond that it is withheld. */
  def steps(length: Int): Long = Steps + StepsPerCharacter * length
  private val Steps: Long = data.get("steps").asLong
  private val StepsPerCharacter: Long = data.get("steps_per_character").asLong

  /** Values, and parts of values, with fewer characters are not registered unless declared. */
  val Floor: Int = data.get("floor").asInt

  /** Texts that appear in logs and pages without being a secret. */
  val CommonWords: Set[String] = Json.texts(data.get("common_words")).toSet

  /** Names of secrets in connection strings. */
  val SecretNames: Regex = Regex.compile(data.get("secret_names").asText, Regex.CASE_INSENSITIVE)

  /** Those among them that name no secret after all. */
  val HarmlessNames: Regex = Regex.compile(data.get("harmless_names").asText, Regex.CASE_INSENSITIVE)

  /** Fields of JSON documents that say where something is, and are shown. */
  val PlainFields: Set[String] = Json.texts(data.get("plain_fields")).toSet

  /** Names of characters in HTML and XML, besides those of HTML 4. */
  val Entities: Map[String, Int] =
    Json.fields(data.get("entities")).map { case (name, text) => name -> text.asText.codePointAt(0) }.toMap
}

private[redaction] object CommonWords {

  /** Whether a value may be masked wherever it occurs. */
  def worthRegistering(value: String): Boolean = {
    val bare = Forms.bare(value)
    bare.codePointCount(0, bare.length) >= Constants.Floor && !value.startsWith("spark.") &&
    !Constants.CommonWords(bare.toLowerCase(java.util.Locale.ROOT))
  }
}
