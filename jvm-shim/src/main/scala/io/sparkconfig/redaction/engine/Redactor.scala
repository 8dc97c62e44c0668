package io.sparkconfig.redaction.engine

import java.util.concurrent.atomic.AtomicLong
import java.util.{Collection => JCollection}

import org.slf4j.LoggerFactory

/**
 * The values that no sink of this JVM may show, and the masking of texts by them.
 *
 * A value is found raw, under any stack of escapes that Spark's sinks use, in base64, base64url and hex. All methods
 * are thread-safe.
 */
object Redactor {

  /** What replaces a value; Spark's own. */
  final val Mask = "*********(redacted)"

  /** What replaces a text that could not be searched. */
  val Withheld = "*********(redacted: this text could not be searched for secrets and is withheld)"

  private val log = LoggerFactory.getLogger("io.sparkconfig.redaction.engine.Redactor")
  private val values = new Registered()
  private val failures = new AtomicLong()

  /**
   * Registers values, except those that are too short or too common to be masked wherever they occur: these the
   * Python side reports, with the reference they came from.
   */
  def register(values: Iterable[String]): Unit = register(values, 0L)

  /** @param generation of the answer that holds them all: such values age out, see [[Registered.add]] */
  def register(values: Iterable[String], generation: Long): Unit = {
    val fresh = values.filter(v => v != null && CommonWords.worthRegistering(v))
    val forgotten = this.values.add(fresh.iterator, generation)
    ForPython.add(fresh)
    ForPython.forget(forgotten)
  }

  /** [[register]] for callers without Scala collections. */
  def registerAll(values: JCollection[String]): Unit = register(values.toArray(new Array[String](0)).toSeq)

  def isEmpty: Boolean = values.isEmpty

  /** Another number once there are other values to look for. */
  private[redaction] def version: Int = values.version

  /** How many texts were withheld because the search itself failed. */
  def faults: Long = failures.get

  /**
   * Masks every occurrence of every value.
   * @return the same instance if none occurs; [[Withheld]] if the search failed, never the unsearched text
   */
  def redact(text: String): String = redact(text, Reader.Anybody)

  /** As this reader sees it. */
  private[redaction] def redact(text: String, reader: Reader): String =
    redactExcept(text, json = false, NoSpans, reader)

  /**
   * [[redact]] for JSON: the result is valid JSON wherever the text was, a number that is a value included, and has
   * Spark's own keys.
   */
  def redactJson(text: String): String = redactJson(text, Reader.Anybody)

  private[redaction] def redactJson(text: String, reader: Reader): String =
    redactExcept(text, json = true, SparkJson.keys(text), reader)

  /** Whether a value occurs. A text that cannot be searched counts as one that holds a value. */
  def contains(text: String): Boolean = contains(text, Reader.Anybody)

  /** As this reader sees it. */
  private[redaction] def contains(text: String, reader: Reader): Boolean =
    if (text == null || text.isEmpty || isEmpty) false
    else
      try !find(text, json = false, reader).isEmpty
      catch { case fault: Throwable => failed(fault); true }

  private val NoSpans = new Intervals

  /** [[redact]] or [[redactJson]] for a text with parts that stay: what lies in one as a whole is not masked. */
  private[redaction] def redactExcept(
      text: String,
      json: Boolean,
      keep: => Intervals,
      reader: Reader = Reader.Anybody): String =
    if (text == null || text.isEmpty || isEmpty) text
    else
      try {
        val all = find(text, json, reader)
        val found = if (all.isEmpty) all else all.without(keep)
        if (found.isEmpty) text else replace(text, found, json)
      } catch { case fault: Throwable => failed(fault); Withheld }

  /** Finds what is to be masked: sorted, apart from each other, and never a part of an escape. */
  private[redaction] def find(text: String, json: Boolean, reader: Reader = Reader.Anybody): Intervals = {
    val found = values.search.find(text, reader)
    reader match {
      case client: Client => client.addLiterals(text, found)
      case _ =>
    }
    if (found.isEmpty) found else { found.settle(); Edges.mend(text, found, json) }
  }

  private[redaction] def replace(text: String, found: Intervals, json: Boolean): String = {
    val out = new java.lang.StringBuilder(text.length + 64)
    lazy val strings = JsonStrings.places(text)
    var at = 0
    var i = 0
    while (i < found.size) {
      val start = found.start(i)
      val end = found.end(i)
      out.append(text, at, start)
      if (json && Edges.isNumbers(text, start, end) && !strings.hold(start, end))
        (start until end).foreach { p => out.append(if (", ".indexOf(text.charAt(p)) >= 0) text.charAt(p) else '1') }
      else out.append(Mask)
      at = end
      i += 1
    }
    out.append(text, at, text.length).toString
  }

  /** How many of the first characters can be shown of a text that goes on: the others could begin a value. */
  private[redaction] def complete(text: String): Int =
    if (isEmpty) text.length
    else
      try {
        val until = text.length - Tail.of(values.search, text)
        val found = find(text, json = false)
        // What is found may be the beginning of a longer value.
        val cut =
          (0 until found.size).find(i => found.start(i) < until && found.end(i) > until).fold(until)(found.start)
        // One value after the other, without a gap.
        if (cut == 0 && text.length > Constants.LongestTail) text.length else cut
      } catch { case fault: Throwable => failed(fault); text.length } // so is the search of what is shown

  private[redaction] def failed(fault: Throwable): Unit = {
    // The fault's own message could quote the text.
    if (failures.getAndIncrement() == 0)
      try log.warn(
          "A text could not be searched for secrets and is withheld ({}); later ones are only counted.",
          fault.getClass.getName)
      catch { case _: Throwable => () }
  }
}
