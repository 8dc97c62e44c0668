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

  /** Values, and parts of values, with fewer characters are not registered. */
  val Floor: Int = data.get("floor").asInt

  /** Texts that appear in logs and pages without being a secret. */
  val CommonWords: Set[String] = Json.texts(data.get("common_words")).toSet

  /** Names of secrets in connection strings. */
  val SecretNames: Regex = Regex.compile(data.get("secret_names").asText, Regex.CASE_INSENSITIVE)

  /** Those among them that name no secret after all. */
  val HarmlessNames: Regex = Regex.compile(data.get("harmless_names").asText, Regex.CASE_INSENSITIVE)

  /** Blanks and line ends: what languages and people trim, a file's byte order mark too. */
  val Blanks: String = data.get("blanks").asText

  /** Regular expressions for secrets inside one line, by the kind of line. */
  val Credentials: Map[String, String] =
    Json.fields(data.get("credentials")).map { case (kind, text) => kind -> text.asText }.toMap

  /** Fields of JSON documents that say where something is, and are shown. */
  val PlainFields: Set[String] = Json.texts(data.get("plain_fields")).toSet

  // Of the canonical forms, see the contract in `canonical.py` and `forms.py`.
  private val canonical: JsonNode = data.get("canonical")
  private def number(names: String*): Int = names.foldLeft(canonical)(_.get(_)).asInt

  val Rounds: Int = number("rounds")

  /** Names of characters in HTML and XML. */
  val Names: java.util.Map[String, String] = {
    val found = new java.util.HashMap[String, String]()
    Json.fields(canonical.get("names")).foreach { case (name, text) => found.put(name, text.asText) }
    found
  }

  /** What an introducer before a value may take of it. */
  val Heads: Seq[Regex] = Json.texts(canonical.get("heads")).map(Regex.compile(_))

  /** What an escape may take of the end of a value, with what follows. */
  val Tail: Regex = Regex.compile(canonical.get("tail").asText)
  val DoubledSigns: Seq[Char] = canonical.get("doubled_signs").asText.toSeq
  val QuotesOfShells: Seq[String] = Json.texts(canonical.get("quotes_of_shells")).toSeq
  val FormBlank: String = canonical.get("form_blank").asText
  val ControlLetters: Seq[(String, String)] =
    Json.fields(canonical.get("control_letters")).map { case (letter, control) => letter -> control.asText }.toSeq
  val LayersOfAlternatives: Int = number("layers_of_alternatives")
  val LongestWithTwoLayers: Int = number("longest_with_two_layers")
  val BlockLength: Int = number("block", "length")
  val BlockWithin: Int = number("block", "within")
  val BlockFrom: Int = number("block", "from")
  val BlockVariety: Int = number("block", "variety")
  val BeginningLeast: Int = number("beginning", "least")
  val BeginningWithin: Int = number("beginning", "within")
  val ListSeparators: Seq[String] = Json.texts(canonical.get("lists").get("separators")).toSeq
  val LongestCutEscape: Int = number("longest_cut_escape")
  val LongestTail: Int = number("longest_tail")
  val ForgetGenerations: Int = number("forget", "generations")
  val ForgetSeconds: Int = number("forget", "seconds")
}

private[redaction] object CommonWords {

  /** Whether a value may be masked wherever it occurs. What is a part of the mask itself must not mask masks. */
  def worthRegistering(value: String): Boolean = {
    val bare = Forms.bare(value)
    bare.codePointCount(0, bare.length) >= Constants.Floor && !value.startsWith("spark.") &&
    !Redactor.Mask.contains(bare) &&
    !Constants.CommonWords(bare.toLowerCase(java.util.Locale.ROOT))
  }
}
