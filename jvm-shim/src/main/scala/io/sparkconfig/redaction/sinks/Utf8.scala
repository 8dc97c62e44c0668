package io.sparkconfig.redaction.sinks

import java.io.ByteArrayOutputStream
import java.nio.charset.{Charset, CoderResult, StandardCharsets}
import java.nio.{ByteBuffer, CharBuffer}

import io.sparkconfig.redaction.engine.Redactor

/**
 * Bytes as text and back without loss: a byte that is not UTF-8 becomes a lone surrogate, U+DC80 to U+DCFF, as Python's
 * `surrogateescape` has it. One such byte must not keep the values around it from being found.
 */
private[redaction] object Utf8 {
  private val First = 0xdc00

  /**
   * Masks what is in the bytes. Where some are not UTF-8, they may be Latin: what they are then is searched too.
   * @return the same instance if `mask` returns the same
   */
  def masked(bytes: Array[Byte], charset: Charset = StandardCharsets.UTF_8)(mask: String => String): Array[Byte] = {
    val text = decode(bytes, charset)
    val safe = mask(text)
    val shown = if (safe eq text) bytes else encode(safe, charset)
    // `exists` would box each character of a page.
    var i = 0
    while (i < text.length && !isEscaped(text.charAt(i))) i += 1
    if (charset != StandardCharsets.UTF_8 || i == text.length) shown
    else {
      val latin = new String(shown, StandardCharsets.ISO_8859_1)
      val again = mask(latin)
      if (again eq latin) shown else again.getBytes(StandardCharsets.ISO_8859_1)
    }
  }

  /** In another charset than UTF-8 every byte is a character, or the container has chosen it. */
  def decode(bytes: Array[Byte], charset: Charset = StandardCharsets.UTF_8): String =
    if (charset != StandardCharsets.UTF_8) new String(bytes, charset)
    else {
      val text = new String(bytes, charset)
      if (text.indexOf(0xfffd) < 0) text else escaped(bytes, isWhole = true)
    }

  def encode(text: String, charset: Charset = StandardCharsets.UTF_8): Array[Byte] =
    if (charset != StandardCharsets.UTF_8 || !text.exists(isEscaped)) text.getBytes(charset)
    else {
      val out = new ByteArrayOutputStream(text.length + 16)
      var from = 0
      var i = 0
      while (i < text.length) {
        if (isEscaped(text.charAt(i)) && !(i > 0 && Character.isHighSurrogate(text.charAt(i - 1)))) {
          out.write(text.substring(from, i).getBytes(charset))
          out.write(text.charAt(i) - First)
          from = i + 1
        }
        i += 1
      }
      out.write(text.substring(from).getBytes(charset))
      out.toByteArray
    }

  /** How many of the first bytes can be shown: the others could be the beginning of a value, or of a character. */
  def complete(bytes: Array[Byte], charset: Charset = StandardCharsets.UTF_8): Int = {
    val text = if (charset != StandardCharsets.UTF_8) new String(bytes, charset) else escaped(bytes, isWhole = false)
    encode(text.substring(0, Redactor.complete(text)), charset).length
  }

  /** Such characters also end pairs; these stay. */
  private def isEscaped(c: Char): Boolean = c >= 0xdc80 && c <= 0xdcff

  /** @param isWhole whether a character that the last bytes begin ends nowhere */
  private def escaped(bytes: Array[Byte], isWhole: Boolean): String = {
    val decoder = StandardCharsets.UTF_8.newDecoder()
    val in = ByteBuffer.wrap(bytes)
    val out = CharBuffer.allocate(bytes.length + 1)
    var result = decoder.decode(in, out, isWhole)
    while (result != CoderResult.UNDERFLOW) {
      (0 until result.length).foreach(_ => out.put((First + (in.get() & 0xff)).toChar))
      result = decoder.decode(in, out, isWhole)
    }
    out.flip()
    out.toString
  }
}
