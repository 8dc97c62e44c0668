package io.sparkconfig.redaction.sinks

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, IOException}
import java.nio.charset.{Charset, StandardCharsets}
import java.util.zip.{GZIPInputStream, GZIPOutputStream}

import io.sparkconfig.redaction.engine.{Intervals, Redactor}
import io.sparkconfig.redaction.sinks.Servlets._

private[redaction] object Bodies {

  /** What is held of one answer before it begins to flow, in bytes. */
  val Limit: Int = 8 << 20

  /** What stays held of a flowing answer, so that no value is torn; in bytes. */
  val Tail: Int = 256 << 10

  def isJson(contentType: String): Boolean = contentType.contains("json")

  /**
   * @return the same instance if no value occurs
   * @throws java.io.IOException if the text cannot be searched: the filter answers with an error
   */
  def redact(text: String, contentType: String): String = {
    val safe = if (isJson(contentType)) Redactor.redactJson(text) else Redactor.redact(text)
    if (safe eq Redactor.Withheld) throw new IOException(Redactor.Withheld) with Unsearchable
    safe
  }

  /** Pictures, fonts and archives: text cannot be searched for in them. */
  def isOpaque(contentType: String): Boolean =
    contentType.startsWith("image/") && !contentType.contains("svg") || contentType.startsWith("font/") ||
      contentType.startsWith("audio/") || contentType.startsWith("video/") || contentType.contains("zip") ||
      contentType.contains("zstd") || contentType.contains("java-archive")
}

private[redaction] object Cut {
  def before(found: Intervals, until: Int): Int = {
    var i = 0
    while (i < found.size) {
      if (found.start(i) < until && found.end(i) > until) return found.start(i)
      i += 1
    }
    until
  }
}

/** The bytes that a page wrote. */
private[redaction] final class ByteBody(answer: HttpResponse, contentType: () => String) {
  private var held = new ByteArrayOutputStream()
  private var opaque = false
  private var decided = false
  private var flowing = false

  def write(b: Array[Byte], from: Int, count: Int): Unit = {
    if (!decided) { decided = true; opaque = encoding.isEmpty && Bodies.isOpaque(contentType()) }
    if (opaque) answer.getOutputStream.write(b, from, count)
    else {
      held.write(b, from, count)
      if (held.size > Bodies.Limit) pass(held.size - Bodies.Tail)
    }
  }

  def clear(): Unit = held.reset()

  def passLines(): Unit = {
    if (!opaque) {
      val raw = held.toByteArray
      pass(raw.lastIndexOf('\n'.toByte) + 1)
    }
    answer.getOutputStream.flush()
  }

  /** Passes on the rest. `setLength` is told the number of bytes, if it is known. */
  def finish(setLength: Long => Unit): Unit = if (!opaque) {
    val raw = held.toByteArray
    val out = encoding match {
      case "" => redact(raw)
      case "gzip" | "x-gzip" =>
        val plain = gunzip(raw)
        val safe = redact(plain)
        if (safe eq plain) raw else gzip(safe)
      case other =>
        throw new IOException(s"an answer with Content-Encoding $other cannot be searched") with Unsearchable
    }
    if (!flowing) setLength(out.length.toLong)
    if (out.length > 0) answer.getOutputStream.write(out)
  }

  /** As the page set it; asked once, since the container's gzip handler sets it too when the answer begins to flow. */
  private lazy val encoding: String = {
    val header = String.valueOf(answer.getHeader("Content-Encoding")).trim.toLowerCase(java.util.Locale.ROOT)
    if (header == "null" || header == "identity") "" else header
  }

  private def charset: Charset = {
    val named =
      try Charset.forName(answer.getCharacterEncoding)
      catch { case _: IllegalArgumentException => StandardCharsets.UTF_8 }
    // Without a charset in the content type containers answer ISO-8859-1; Spark's REST answers are UTF-8 then.
    if (contentType().contains("charset")) named else StandardCharsets.UTF_8
  }

  private def redact(raw: Array[Byte]): Array[Byte] = Utf8.masked(raw, charset)(Bodies.redact(_, contentType()))

  /** Passes on what is before byte `until`, or before the match that spans it. */
  private def pass(until: Int): Unit = if (until > 0) {
    if (encoding.nonEmpty) throw new IOException("a compressed answer is too large to be searched") with Unsearchable
    flowing = true
    val all = held.toByteArray
    val raw = java.util.Arrays.copyOf(all, characters(all, all.length))
    // The tail is searched too, for a match that spans the cut.
    val set = charset
    val text = Utf8.decode(raw, set)
    val json = Bodies.isJson(contentType())
    val found = Redactor.find(text, json)
    val cut = Cut.before(found, Utf8.decode(java.util.Arrays.copyOf(raw, characters(raw, until)), set).length)
    answer.getOutputStream.write(Utf8.encode(Redactor.replace(text, found, cut, json), set))
    held = new ByteArrayOutputStream()
    held.write(Utf8.encode(text.substring(cut), set))
    held.write(all, raw.length, all.length - raw.length)
  }

  /** The largest length up to `until` that ends with a whole UTF-8 character. */
  private def characters(raw: Array[Byte], until: Int): Int = {
    var start = math.min(until, raw.length)
    if (start == 0 || raw(start - 1) >= 0) return start
    val limit = math.max(0, start - 4)
    while (start > limit && (raw(start - 1) & 0xc0) == 0x80) start -= 1
    if (start == 0) return until
    val lead = raw(start - 1) & 0xff
    val width = if (lead >= 0xf0) 4 else if (lead >= 0xe0) 3 else if (lead >= 0xc0) 2 else 1
    if (start - 1 + width <= until) start - 1 + width else start - 1
  }

  private def gzip(plain: Array[Byte]): Array[Byte] = {
    val out = new ByteArrayOutputStream()
    val zip = new GZIPOutputStream(out)
    zip.write(plain)
    zip.close()
    out.toByteArray
  }

  private def gunzip(raw: Array[Byte]): Array[Byte] = {
    val plain = new GZIPInputStream(new ByteArrayInputStream(raw)).readNBytes(16 * Bodies.Limit)
    if (plain.length == 16 * Bodies.Limit)
      throw new IOException("a compressed answer is too large to be searched") with Unsearchable
    plain
  }
}

/** Marks a fault of redaction, not of the connection. */
private[redaction] trait Unsearchable
