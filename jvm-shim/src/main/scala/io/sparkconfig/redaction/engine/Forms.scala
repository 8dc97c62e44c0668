package io.sparkconfig.redaction.engine

import java.nio.charset.StandardCharsets
import java.text.Normalizer
import java.util.regex.{Pattern => Regex}
import java.util.{ArrayDeque, LinkedHashSet}

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.JsonNode
import io.sparkconfig.core.Json

/** The secrets inside a value that may be shown alone. The same rules as Python's `patterns.texts`. */
private[redaction] object Forms {
  // A document may hold texts that hold documents.
  private val Depth = 4
  private val MostTexts = 2000
  private val LongestDocument = 1 << 20

  private val LineEnds = Regex.compile("[\r\n]+")
  private val Percent = Regex.compile("%[0-9A-Fa-f]{2}")

  /**
   * The value itself, its lines, itself without blanks or quotes around it, the string fields of a JSON document, the
   * credentials of URLs, connection strings and headers, all of them decoded from percent-encoding and in both Unicode
   * forms.
   */
  def texts(value: String): LinkedHashSet[String] = {
    val found = new LinkedHashSet[String]()
    found.add(value)
    val waiting = new ArrayDeque[(String, Int)]()
    waiting.add((value, 0))
    while (!waiting.isEmpty && found.size < MostTexts) {
      val (text, depth) = waiting.poll()
      inside(text).foreach { inner =>
        if (CommonWords.worthRegistering(inner) && found.add(inner) && depth < Depth) waiting.add((inner, depth + 1))
      }
    }
    found
  }

  /** Without blanks and line ends around it; what counts as one is the same in both engines. */
  def bare(text: String): String = {
    var from = 0
    var until = text.length
    while (from < until && isBlank(text.charAt(from))) from += 1
    while (until > from && isBlank(text.charAt(until - 1))) until -= 1
    text.substring(from, until)
  }

  private def isBlank(c: Char): Boolean = Constants.Blanks.indexOf(c.toInt) >= 0

  private def inside(text: String): Seq[String] = {
    val found = Seq.newBuilder[String]
    val trimmed = bare(text)
    found += trimmed
    if (trimmed.length > 1 && "'\"".indexOf(trimmed.head.toInt) >= 0 && trimmed.last == trimmed.head)
      found += trimmed.substring(1, trimmed.length - 1)
    val lines = LineEnds.split(text, -1)
    // "-----BEGIN PRIVATE KEY-----" is not a secret.
    if (lines.length > 1) found ++= lines.map(bare).filterNot(_.startsWith("-----"))
    if ((trimmed.startsWith("{") || trimmed.startsWith("[")) && trimmed.length <= LongestDocument)
      found ++= fields(trimmed)
    else if (lines.length == 1) found ++= Credentials.of(trimmed)
    if (text.exists(_ >= 0x80)) {
      found += Normalizer.normalize(text, Normalizer.Form.NFC)
      found += Normalizer.normalize(text, Normalizer.Form.NFD)
    }
    if (Percent.matcher(text).find()) found ++= Canonical.forms(text).map(_.text)
    found.result()
  }

  private def fields(document: String): Seq[String] =
    try {
      val found = Seq.newBuilder[String]
      val waiting = new ArrayDeque[JsonNode]()
      waiting.add(Json.parse(document.getBytes(StandardCharsets.UTF_8)))
      while (!waiting.isEmpty) {
        val node = waiting.poll()
        if (node.isTextual) found += node.asText
        else if (node.isObject) Json.fields(node).foreach { case (name, field) =>
          if (!Constants.PlainFields(name.toLowerCase(java.util.Locale.ROOT))) waiting.add(field)
        }
        else if (node.isArray) node.elements().asScala.foreach(waiting.add)
      }
      found.result()
    } catch { case _: Exception | _: StackOverflowError => Nil } // it is not JSON
}
