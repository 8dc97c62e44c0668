package io.sparkconfig.redaction.sinks

import java.io.{OutputStreamWriter, PrintWriter}
import java.util.Locale

import io.sparkconfig.redaction.engine.Redactor
import io.sparkconfig.redaction.sinks.Servlets._

/**
 * Holds an answer's body back until it is complete, or too large to hold, and passes it on redacted; status
 * messages, redirects and headers at once. Not thread-safe, as no servlet response is.
 */
private[redaction] final class RedactedResponse(answer: HttpResponse) extends HttpResponseWrapper(answer) {
  private var bytes: ByteBody = _
  private var stream: OutputStream = _
  private var writer: PrintWriter = _
  private var length = -1L // as the page set it
  private var over = false // the body was dropped or passed on

  private def contentType: String = String.valueOf(getContentType).toLowerCase(Locale.ROOT)

  override def getOutputStream: OutputStream = {
    if (writer != null) throw new IllegalStateException("getWriter was called before")
    opened()
  }

  private def opened(): OutputStream = {
    if (stream == null) {
      bytes = new ByteBody(answer, () => contentType)
      stream = new OutputStream {
        override def write(b: Int): Unit = if (!over) bytes.write(Array(b.toByte), 0, 1)
        override def write(b: Array[Byte], from: Int, count: Int): Unit = if (!over) bytes.write(b, from, count)
        override def flush(): Unit = ()
        override def isReady: Boolean = true
        override def setWriteListener(listener: WriteListener): Unit =
          throw new IllegalStateException("non-blocking writes cannot be redacted")
      }
    }
    stream
  }

  override def getWriter: PrintWriter = {
    if (writer == null) {
      if (stream != null) throw new IllegalStateException("getOutputStream was called before")
      // The container's own writer would choose it, and name it in the headers.
      answer.setCharacterEncoding(answer.getCharacterEncoding)
      writer = new PrintWriter(new OutputStreamWriter(opened(), answer.getCharacterEncoding))
    }
    writer
  }

  /** Passes on what is held. */
  def finish(): Unit = if (!over) {
    if (writer != null) writer.flush()
    over = true
    if (bytes != null) bytes.finish(if (length >= 0) (n => answer.setContentLengthLong(n)) else (_ => ()))
    else if (length >= 0) answer.setContentLengthLong(length) // HEAD
  }

  /** Drops what is held. */
  def abandon(): Unit = over = true

  override def setContentLength(n: Int): Unit = length = n
  override def setContentLengthLong(n: Long): Unit = length = n
  override def setHeader(name: String, value: String): Unit =
    if (!isLength(name, value)) super.setHeader(name, Redactor.redact(value))
  override def addHeader(name: String, value: String): Unit =
    if (!isLength(name, value)) super.addHeader(name, Redactor.redact(value))
  override def setIntHeader(name: String, value: Int): Unit =
    if (!isLength(name, value.toString)) super.setIntHeader(name, value)
  override def addIntHeader(name: String, value: Int): Unit =
    if (!isLength(name, value.toString)) super.addIntHeader(name, value)

  private def isLength(name: String, value: String): Boolean =
    "Content-Length".equalsIgnoreCase(name) && {
      length =
        try String.valueOf(value).trim.toLong
        catch { case _: NumberFormatException => -1L }
      true
    }

  override def sendError(status: Int): Unit = { abandon(); super.sendError(status) }
  override def sendError(status: Int, message: String): Unit = {
    abandon(); super.sendError(status, Redactor.redact(message))
  }
  override def sendRedirect(location: String): Unit = { abandon(); super.sendRedirect(Redactor.redact(location)) }
  override def flushBuffer(): Unit = ()

  override def reset(): Unit = { super.reset(); length = -1L; forget() }
  override def resetBuffer(): Unit = {
    super.resetBuffer()
    if (writer != null) writer.flush()
    if (bytes != null) bytes.clear()
  }
  private def forget(): Unit = { bytes = null; stream = null; writer = null }
}
