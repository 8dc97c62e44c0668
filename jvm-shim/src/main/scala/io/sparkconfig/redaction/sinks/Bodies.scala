package io.sparkconfig.redaction.sinks

import java.io.{ByteArrayOutputStream, IOException}
import java.nio.charset.{Charset, StandardCharsets}

import io.sparkconfig.redaction.engine.{Intervals, Redactor}
import io.sparkconfig.redaction.sinks.Servlets._

private[redaction] object Bodies {

  /** What is held of one answer before it begins to flow, in bytes. */
  val Limit: Int = 8 << 20

  /**
   * @param whole whether it is the whole answer: in a part of one, no one knows which keys of JSON are Spark's
   * @return the same instance if no value occurs
   * @throws java.io.IOException if the text cannot be searched: the filter answers with an error
   */
  def redact(text: String, contentType: String, whole: Boolean): String = {
    val safe =
      if (!contentType.contains("json")) Redactor.redact(text)
      else if (whole) Redactor.redactJson(text)
      else Redactor.redactExcept(text, json = true, new Intervals)
    if (safe eq Redactor.Withheld) throw new IOException(Redactor.Withheld) with Unsearchable
    safe
  }
}

/** The bytes that a page wrote. */
private[redaction] final class ByteBody(answer: HttpResponse, contentType: () => String) {
  private val held = new ByteArrayOutputStream()
  private var flowing = false

  def write(b: Array[Byte], from: Int, count: Int): Unit = {
    held.write(b, from, count)
    if (held.size > Bodies.Limit) pass()
  }

  def clear(): Unit = held.reset()

  /** Passes on the rest. `setLength` is told the number of bytes, if it is known. */
  def finish(setLength: Long => Unit): Unit = {
    val out = redact(held.toByteArray)
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

  private def redact(raw: Array[Byte]): Array[Byte] = {
    if (encoding.nonEmpty && raw.length > 0)
      throw new IOException(s"an answer with Content-Encoding $encoding cannot be searched") with Unsearchable
    Utf8.masked(raw, charset)(Bodies.redact(_, contentType(), whole = !flowing))
  }

  /** Passes on what could not be the beginning of a value. */
  private def pass(): Unit = {
    val all = held.toByteArray
    val until = Utf8.complete(all, charset)
    flowing = true
    answer.getOutputStream.write(redact(java.util.Arrays.copyOf(all, until)))
    held.reset()
    held.write(all, until, all.length - until)
  }
}

/** Marks a fault of redaction, not of the connection. */
private[redaction] trait Unsearchable
