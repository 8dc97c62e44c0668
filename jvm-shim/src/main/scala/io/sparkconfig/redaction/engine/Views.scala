package io.sparkconfig.redaction.engine

import java.nio.ByteBuffer
import java.nio.charset.{CharacterCodingException, StandardCharsets}

/**
 * Another reading of a text.
 * @param positions where each of its characters begins in the text, and where the last one ends
 */
private[redaction] final class View(val text: String, val positions: Array[Int])

/**
 * Bytes at the end of a text, written as numbers, that may go on.
 * @param view  what they are in UTF-8; its last position is where what follows them begins
 * @param torn  bytes behind them that are the beginning of a character
 * @param cut   the beginning of one more number
 */
private[redaction] final class Numbers(val view: View, val torn: Array[Byte], val cut: String)

/**
 * Other readings of a whole text: where letters and digits themselves are escaped, or bytes are written as numbers.
 * The same rules as Python's `views.py`.
 */
private[redaction] object Views {

  /** A shorter list of numbers holds no value that is encoded. */
  private val Fewest = 8

  /** What is longer than this does not wait for its end. */
  private val LongestOpen = 1 << 14

  /** The views of `text`, whose signs are known, that may hold what the text itself does not; nearly always none. */
  def of(text: String, signs: Signs): List[View] = {
    var found: List[View] = Nil
    val escapes = (signs.brackets && hasEscape(text, '\\')) ||
      (signs.percents && (hasEscape(text, '%') || hasEscape(text, '&')))
    if (escapes) found ::= unescaped(text)
    // A stream may have shown the beginning of a list, or of its number, before.
    val later = numbers(text, skipped(text, 0))
    if (later != null && later.valid) found ::= later.view
    var at = if (signs.brackets) text.indexOf('[') else -1
    while (at >= 0) {
      val region = numbers(text, at + 1)
      if (region != null) { if (region.valid) found ::= region.view; at = text.indexOf('[', region.end) }
      else at = text.indexOf('[', at + 1)
    }
    found
  }

  /** Whether a text may begin with bytes as numbers: the rest of a list. */
  def mayBeginList(text: String): Boolean = {
    val from = skipped(text, 0)
    val digits = if (from < text.length && text.charAt(from) == '-') from + 1 else from
    var i = digits
    while (i < text.length && i < digits + 3 && Readings.digit(text.charAt(i), 10) >= 0) i += 1
    i > digits && i < text.length && text.charAt(i) == ','
  }

  private def skipped(text: String, from: Int): Int = {
    var i = from
    while (i < text.length && i < from + 2 && (text.charAt(i) == ',' || text.charAt(i) == ' ')) i += 1
    i
  }

  /** The list of bytes at the end of `text` that may go on; null: there is none. */
  def openList(text: String): Numbers = {
    var start = text.length
    while (start > 0 && "0123456789, -".indexOf(text.charAt(start - 1).toInt) >= 0) start -= 1
    if (start > 0 && text.charAt(start - 1) != '[') return null
    val least = text.length - LongestOpen
    if (start < least) {
      start = text.indexOf(',', least) + 1
      if (start == 0) return null
    }
    val octets = new Octets
    var i = skipped(text, start)
    var cut = text.length
    while (i < text.length) {
      val digits = if (text.charAt(i) == '-') i + 1 else i
      var until = digits
      while (until < text.length && until < digits + 3 && Readings.digit(text.charAt(until), 10) >= 0) until += 1
      // A number of three digits is whole.
      if (until == text.length && until - digits < 3) cut = i
      else {
        if (until == digits || until < text.length && text.charAt(until) != ',') return null
        val value = number(text, digits, until - digits, 10)
        octets.add(if (digits > i) -value else value, i, until)
        until += 1
        if (until < text.length && text.charAt(until) == ' ') until += 1
      }
      i = until
    }
    if (octets.valid) octets.open(cut, text.substring(cut)) else null
  }

  private def hasEscape(text: String, sign: Char): Boolean = {
    var at = text.indexOf(sign.toInt)
    while (at >= 0) {
      if (escapeAt(text, at) >= 0) return true
      at += 1
      while (sign == '\\' && at < text.length && text.charAt(at) == sign) at += 1
      at = text.indexOf(sign.toInt, at)
    }
    false
  }

  /** The text with its escaped letters and digits in clear; other escapes stay. */
  private def unescaped(text: String): View = {
    val out = new java.lang.StringBuilder(text.length)
    val positions = new Array[Int](text.length + 1)
    var at = 0
    while (at < text.length) {
      val c = text.charAt(at)
      positions(out.length) = at
      val escape = if (c == '\\' || c == '%' || c == '&') escapeAt(text, at) else -1L
      if (escape >= 0) { out.append((escape & 0xff).toChar); at = (escape >>> 8).toInt }
      else {
        out.append(c)
        at += 1
        // A run that escapes nothing is looked at once.
        while (c == '\\' && at < text.length && text.charAt(at) == c) {
          positions(out.length) = at; out.append(c); at += 1
        }
      }
    }
    positions(out.length) = text.length
    new View(out.toString, java.util.Arrays.copyOf(positions, out.length + 1))
  }

  /** The letter or digit that is escaped at `at`, with the escape's end above it; -1: there is none. */
  private def escapeAt(text: String, at: Int): Long = text.charAt(at) match {
    case '\\' =>
      var i = at + 1
      while (i < text.length && text.charAt(i) == '\\') i += 1
      if (i == text.length) -1L
      else text.charAt(i) match {
        case 'u' =>
          while (i < text.length && text.charAt(i) == 'u') i += 1
          if (text.startsWith("00", i)) plain(number(text, i + 2, 2, 16), i + 4) else -1L
        case 'U' => if (text.startsWith("000000", i + 1)) plain(number(text, i + 7, 2, 16), i + 9) else -1L
        case 'x' => plain(number(text, i + 1, 2, 16), i + 3)
        case '0' | '1' => plain(number(text, i, 3, 8), i + 3)
        case _ => -1L
      }
    case '%' =>
      var i = at + 1
      while (text.startsWith("25", i)) i += 2
      plain(number(text, i, 2, 16), i + 2)
    case _ =>
      var i = at + 1
      while (text.startsWith("amp;", i)) i += 4
      if (i >= text.length || text.charAt(i) != '#') -1L
      else {
        i += 1
        val radix = if (i < text.length && (text.charAt(i) | 0x20) == 'x') { i += 1; 16 }
        else 10
        while (i < text.length && text.charAt(i) == '0') i += 1
        val from = i
        while (i < text.length && i < from + 3 && Readings.digit(text.charAt(i), radix) >= 0) i += 1
        if (i < text.length && text.charAt(i) == ';' && i > from) plain(number(text, from, i - from, radix), i + 1)
        else -1L
      }
  }

  private def plain(code: Int, end: Int): Long = if (Readings.isAlnum(code)) (end.toLong << 8) | code else -1L

  private def number(text: String, from: Int, digits: Int, radix: Int): Int = {
    if (from + digits > text.length) return -1
    var value = 0
    var i = from
    while (i < from + digits) {
      val digit = Readings.digit(text.charAt(i), radix)
      if (digit < 0) return -1
      value = value * radix + digit
      i += 1
    }
    value
  }

  /** Bytes that are written as numbers, each with its start; `end` is behind the last one. */
  private final class Octets {
    private var values = new Array[Byte](64)
    private var starts = new Array[Int](64)
    private var count = 0
    var valid = true
    var end = 0
    def size: Int = count
    def add(value: Int, start: Int, until: Int): Unit = {
      if (value < -128 || value > 255) valid = false
      if (count == values.length) {
        values = java.util.Arrays.copyOf(values, count * 2)
        starts = java.util.Arrays.copyOf(starts, count * 2)
      }
      values(count) = value.toByte
      starts(count) = start
      count += 1
      end = until
    }

    /** @param until where what follows them begins, the number `cut` */
    def open(until: Int, cut: String): Numbers = {
      var torn = 0
      var n = 1
      while (torn == 0 && n <= math.min(3, count)) {
        if ((values(count - n) & 0xc0) != 0x80) { if (width(values(count - n)) > n) torn = n; n = count }
        n += 1
      }
      val whole = count - torn
      val rest = java.util.Arrays.copyOfRange(values, whole, count)
      new Numbers(view(whole, if (torn > 0) starts(whole) else until), rest, cut)
    }

    private def width(lead: Byte): Int = {
      val value = lead & 0xff
      if (value < 0xc0) 1 else if (value < 0xe0) 2 else if (value < 0xf0) 3 else 4
    }

    /** The text that they are in UTF-8. */
    def view: View = view(count, end)

    private def view(count: Int, end: Int): View = {
      val out = new java.lang.StringBuilder(count)
      val positions = new Array[Int](count + 1)
      var i = 0
      while (i < count) {
        val width = this.width(values(i))
        val char = decoded(i, math.min(width, count - i))
        val taken = if (char == null) 1 else width
        val shown = if (char == null) "\ufffd" else char
        var k = 0
        while (k < shown.length) { positions(out.length + k) = starts(i); k += 1 }
        out.append(shown)
        i += taken
      }
      positions(out.length) = end
      new View(out.toString, java.util.Arrays.copyOf(positions, out.length + 1))
    }

    private def decoded(from: Int, width: Int): String =
      if (width == 1 && values(from) >= 0) values(from).toChar.toString
      else
        try StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(values, from, width)).toString
        catch { case _: CharacterCodingException => null }
  }

  /** The numbers of a list as Java's `Arrays.toString`, Python and JSON write one; null: there are none at `at`. */
  private def numbers(text: String, at: Int): Octets = {
    var start = at
    var found: Octets = null
    while (start >= 0) {
      val digits = if (start < text.length && text.charAt(start) == '-') start + 1 else start
      var i = digits
      while (i < text.length && i < digits + 3 && Readings.digit(text.charAt(i), 10) >= 0) i += 1
      val comma = i > digits && i < text.length && text.charAt(i) == ','
      // Nearly every bracket is followed by something else: nothing is made for these.
      if (comma && found == null) found = new Octets
      if (i > digits && found != null) {
        val value = number(text, digits, i - digits, 10)
        found.add(if (digits > start) -value else value, start, i)
      }
      start = if (!comma) -1 else if (i + 1 < text.length && text.charAt(i + 1) == ' ') i + 2 else i + 1
    }
    if (found != null && found.size >= Fewest) found else null
  }
}
