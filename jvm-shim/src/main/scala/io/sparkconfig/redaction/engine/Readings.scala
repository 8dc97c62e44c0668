package io.sparkconfig.redaction.engine

import scala.collection.mutable.LongMap

import org.apache.commons.text.StringEscapeUtils

/**
 * Reads one character of a text in every way an encoder may have written it: raw, after a backslash (JSON, JavaScript,
 * SQL, Java properties, Python), as an entity (XML, HTML) or percent-encoded, in stacks of up to `Readings.Depth`
 * layers. ASCII letters and digits are always read raw: no encoder in use rewrites them.
 */
private[redaction] final class Readings(text: String, budget: Budget) {
  import Readings._
  private val length = text.length

  /** What was read where an escape begins: of a run of backslashes, each layer asks the same for all behind it. */
  private var known: LongMap[Positions] = _

  /** Whether `cp`, an ASCII letter or digit, stands at `p`. */
  def isAt(p: Int, cp: Int): Boolean = p < length && { budget.spend(1); text.charAt(p) == cp }

  /** Adds to `out` every position at which a reading of `cp` that starts at `p` ends. */
  def ends(p: Int, cp: Int, depth: Int, out: Positions): Unit = {
    if (p < 0 || p >= length) return
    budget.spend(1)
    val first = text.charAt(p)
    if (cp < 0x10000) { if (first == cp) out.add(p + 1) }
    else if (text.codePointAt(p) == cp) out.add(p + 2)
    if (depth == 0) return
    if (cp == ' ') ends(p, '+', depth - 1, out) // form encoding
    else if (cp == '\'' && depth == Depth && first == '\'') shellQuotes(p, out)
    // Whatever the layers, the outermost one was written raw, so an encoding starts with one of these three.
    if (first != '\\' && first != '&' && first != '%') return
    val place = p.toLong << 24 | cp << 3 | depth
    if (known == null || known.size > MostKnown) known = new LongMap[Positions]
    var found = known.getOrNull(place)
    if (found == null) {
      found = new Positions
      escaped(p, cp, depth, found)
      known.update(place, found)
    }
    var i = 0
    while (i < found.size) { out.add(found(i)); i += 1 }
  }

  private def escaped(p: Int, cp: Int, depth: Int, out: Positions): Unit = {
    each(p, '\\', depth)(q => afterBackslash(q, cp, depth, out))
    each(p, '&', depth)(q => afterAmpersand(q, cp, depth, out))
    each(p, '%', depth)(q => afterPercent(q, cp, depth, out))
  }

  /**
   * [[ends]] for a character inside a value, where SQL, CSV and ODBC write a quote twice. At a value's own ends the
   * second one may be the one that closes the text.
   */
  def endsInside(p: Int, cp: Int, out: Positions): Unit = {
    ends(p, cp, Depth, out)
    if (isDoubled(cp)) {
      var i = 0
      while (i < out.size && out.size < Positions.Cap) { if (out(i) > p) ends(out(i), cp, Depth, out); i += 1 }
    }
  }

  /** Shells leave their quotes to write one. */
  private def shellQuotes(p: Int, out: Positions): Unit = {
    if (text.startsWith("'\"'\"'", p)) out.add(p + 5)
    if (text.startsWith("'\\''", p)) out.add(p + 4)
  }

  private def each(p: Int, introducer: Char, depth: Int)(visit: Int => Unit): Unit = {
    val found = new Positions
    ends(p, introducer, depth - 1, found)
    var i = 0
    while (i < found.size) { visit(found(i)); i += 1 }
  }

  private def afterBackslash(q: Int, cp: Int, depth: Int, out: Positions): Unit = if (q < length) {
    ends(q, cp, depth - 1, out)
    val letter = text.charAt(q)
    if (control(letter) == cp) out.add(q + 1)
    if (letter == 'u') {
      var hex = q + 1
      while (hex < length && text.charAt(hex) == 'u') hex += 1
      if (cp < 0x10000) { if (number(hex, 4, 16) == cp) out.add(hex + 4) }
      else if (number(hex, 4, 16) == Character.highSurrogate(cp))
        each(hex + 4, '\\', depth) { low =>
          if (low < length && text.charAt(low) == 'u' && number(low + 1, 4, 16) == Character.lowSurrogate(cp))
            out.add(low + 5)
        }
    }
    if (letter == 'x' && number(q + 1, 2, 16) == cp) out.add(q + 3)
    if (letter == 'U' && number(q + 1, 8, 16) == cp) out.add(q + 9)
    if (letter >= '0' && letter <= '3' && number(q, 3, 8) == cp) out.add(q + 3)
    if (cp >= 0x80 && (letter == 'x' || letter == '2' || letter == '3')) escapedBytes(q, utf8(cp), 0, depth, out)
  }

  /** UTF-8 as `\xNN` or octal: Python's bytes, protobuf's texts. */
  private def escapedBytes(q: Int, bytes: Array[Byte], index: Int, depth: Int, out: Positions): Unit = {
    val octet = if (q < length && text.charAt(q) == 'x') number(q + 1, 2, 16) else number(q, 3, 8)
    if (octet == (bytes(index) & 0xff)) {
      if (index == bytes.length - 1) out.add(q + 3)
      else each(q + 3, '\\', depth)(next => escapedBytes(next, bytes, index + 1, depth, out))
    }
  }

  private def utf8(cp: Int): Array[Byte] =
    new String(Character.toChars(cp)).getBytes(java.nio.charset.StandardCharsets.UTF_8)

  private def afterAmpersand(q: Int, cp: Int, depth: Int, out: Positions): Unit = if (q < length) {
    if (isAlnum(text.charAt(q))) {
      val end = wordEnd(q)
      if (isNamed(text.substring(q, end), cp)) ends(end, ';', depth - 1, out)
    } else
      each(q, '#', depth) { digits =>
        val end = wordEnd(digits)
        if (end > digits && numbered(text.substring(digits, end)) == cp) ends(end, ';', depth - 1, out)
      }
  }

  private def wordEnd(from: Int): Int = {
    var end = from
    val limit = math.min(length, from + 10)
    while (end < limit && isAlnum(text.charAt(end))) end += 1
    end
  }

  private def afterPercent(q: Int, cp: Int, depth: Int, out: Positions): Unit =
    if (cp < 0x80) { if (number(q, 2, 16) == cp) out.add(q + 2) }
    else {
      if (cp < 0x100 && number(q, 2, 16) == cp) out.add(q + 2)
      percentBytes(q, utf8(cp), 0, depth, out)
    }

  private def percentBytes(q: Int, bytes: Array[Byte], index: Int, depth: Int, out: Positions): Unit =
    if (number(q, 2, 16) == (bytes(index) & 0xff)) {
      if (index == bytes.length - 1) out.add(q + 2)
      else each(q + 2, '%', depth)(next => percentBytes(next, bytes, index + 1, depth, out))
    }

  private def isNamed(name: String, cp: Int): Boolean =
    if (cp < 0x80) named(name) == cp || (name == "nbsp" && cp == ' ')
    else latin(name) == cp

  private def numbered(digits: String): Int =
    if (digits.charAt(0) == 'x' || digits.charAt(0) == 'X') parse(digits, 1, 16) else parse(digits, 0, 10)

  /** The number of exactly `digits` digits at `p`, or -1. */
  private def number(p: Int, digits: Int, radix: Int): Int = {
    if (p < 0 || p + digits > length) return -1
    var value = 0
    var i = p
    while (i < p + digits) {
      val digit = Readings.digit(text.charAt(i), radix)
      if (digit < 0) return -1
      value = value * radix + digit
      i += 1
    }
    value
  }

  private def parse(name: String, from: Int, radix: Int): Int = {
    if (from >= name.length || name.length - from > 7) return -1
    var value = 0
    var i = from
    while (i < name.length) {
      val digit = Readings.digit(name.charAt(i), radix)
      if (digit < 0) return -1
      value = value * radix + digit
      i += 1
    }
    value
  }

  /**
   * Matches `pattern` from its index `from` on, beginning at text position `at`.
   * @return the furthest end in the text, or -1
   */
  def matchRight(pattern: String, from: Int, at: Int): Int = {
    var i = from
    var p = at
    // Nearly every try fails within a few raw letters: no sets before they are needed.
    while (i < pattern.length && isAlnum(pattern.charAt(i))) {
      if (p >= length || text.charAt(p) != pattern.charAt(i)) return -1
      i += 1; p += 1
    }
    budget.spend(1 + i - from)
    if (i == pattern.length) return p
    var now = new Positions
    var next = new Positions
    now.add(p)
    while (i < pattern.length) {
      val cp = pattern.codePointAt(i)
      val width = Character.charCount(cp)
      next.clear()
      var k = 0
      while (k < now.size) {
        val q = now(k)
        if (isAlnum(cp)) { if (q < length && text.charAt(q) == cp) next.add(q + 1) }
        else {
          if (i > 0 && i + 1 < pattern.length) endsInside(q, cp, next) else ends(q, cp, Depth, next)
        }
        k += 1
      }
      budget.spend(now.size)
      if (next.isEmpty) return -1
      val swap = now; now = next; next = swap
      i += width
    }
    now.max
  }

  /**
   * Whether the text from `at` to its end could be the beginning of `pattern`, in any writing.
   * @param least the fewest characters of it
   * @param openEnd whether the text goes on: then its last escape may be cut too
   */
  def mayBegin(pattern: String, at: Int, least: Int = 1, openEnd: Boolean = true): Boolean = {
    var i = 0
    var now = new Positions
    var next = new Positions
    now.add(at)
    while (i < pattern.length) {
      if (now.contains(length)) return pattern.codePointCount(0, i) >= least
      val cp = pattern.codePointAt(i)
      next.clear()
      var k = 0
      while (k < now.size) {
        val q = now(k)
        if (isAlnum(cp)) { if (q < length && text.charAt(q) == cp) next.add(q + 1) }
        else {
          // How the letters of a value are escaped is not looked at here.
          if (openEnd && isCutEscape(q)) return true
          if (i > 0 && i + 1 < pattern.length) endsInside(q, cp, next) else ends(q, cp, Depth, next)
        }
        k += 1
      }
      budget.spend(now.size)
      if (next.isEmpty) return false
      val swap = now; now = next; next = swap
      i += Character.charCount(cp)
    }
    false
  }

  /**
   * Follows at most `most` characters of an alphabet, its signs in any writing.
   * @return where they end in the text, in the upper half; how many are left, in the lower
   */
  def run(alphabet: Int, from: Int, most: Int): Long = {
    val signs = Pattern.signs(alphabet)
    var at = from
    var left = most
    var more = true
    while (more && left > 0 && at < length) {
      if (Pattern.inAlphabet(text.charAt(at), alphabet)) at += 1
      else {
        val escaped = if (Escapes.indexOf(text.charAt(at).toInt) < 0) -1 else furthest(signs, at)
        if (escaped < 0) more = false else at = escaped
      }
      if (more) left -= 1
    }
    at.toLong << 32 | left
  }

  private def furthest(signs: String, at: Int): Int = {
    val found = new Positions
    signs.foreach(sign => ends(at, sign, Depth, found))
    found.max
  }

  /** Whether the text ends at `at`, or with an escape that begins there and may go on. */
  def isCut(at: Int): Boolean = at == length || isCutEscape(at)

  private def isCutEscape(at: Int): Boolean =
    length - at <= LongestCut && at < length && Escapes.indexOf(text.charAt(at).toInt) >= 0 && {
      var i = at
      while (i < length && (isAlnum(text.charAt(i)) || "\\&%#;".indexOf(text.charAt(i).toInt) >= 0)) i += 1
      i == length
    }

  /** Adds to `out` every position from which a reading of `cp` ends at `e`. */
  private def starts(e: Int, cp: Int, out: Positions): Unit = {
    val scratch = new Positions
    var s = e - 1
    val limit = math.max(0, e - Widest)
    while (s >= limit) {
      val c = text.charAt(s)
      if (c == '\\' || c == '&' || c == '%' || s >= e - 2 || (c == '\'' && cp == '\'')) {
        scratch.clear()
        ends(s, cp, Depth, scratch)
        if (scratch.contains(e)) out.add(s)
      }
      s -= 1
    }
  }

  /**
   * Matches the part of `pattern` before its index `until`, ending at text position `at`.
   * @return the earliest start in the text, or -1
   */
  def matchLeft(pattern: String, until: Int, at: Int): Int = {
    var i = until
    var now = new Positions
    var next = new Positions
    now.add(at)
    while (i > 0) {
      val cp = pattern.codePointBefore(i)
      next.clear()
      var k = 0
      while (k < now.size) {
        val e = now(k)
        if (isAlnum(cp)) { if (e > 0 && text.charAt(e - 1) == cp) next.add(e - 1) }
        else {
          starts(e, cp, next)
          if (isDoubled(cp) && i > 1 && i < pattern.length) {
            var n = 0
            while (n < next.size && next.size < Positions.Cap) { starts(next(n), cp, next); n += 1 }
          }
        }
        k += 1
      }
      budget.spend(now.size)
      if (next.isEmpty) return -1
      val swap = now; now = next; next = swap
      i -= Character.charCount(cp)
    }
    now.min
  }
}

private[redaction] object Readings {

  /** Layers of escapes that are read; Spark's pages stack three. */
  val Depth = 4

  /** The longest writing of one character that is looked for leftwards; an entity of an entity has 30. */
  val Widest = 64

  /** What every escape begins with. */
  private val Escapes = "\\&%"

  /** Readings that are remembered at once. */
  private val MostKnown = 1 << 15

  /** The longest beginning of an escape that waits for its rest at the end of a text. */
  private val LongestCut = 12

  def isAlnum(c: Int): Boolean = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')

  /** Signs that a language writes twice inside a quoted text: SQL, CSV, identifiers, ODBC. */
  private def isDoubled(cp: Int): Boolean = cp == '\'' || cp == '"' || cp == '`' || cp == '}' || cp == ']'

  /** ASCII digits alone, as Python reads them. */
  def digit(c: Char, radix: Int): Int = if (c < 0x80) Character.digit(c, radix) else -1

  private def control(letter: Char): Int = letter match {
    case 'n' => '\n'
    case 'r' => '\r'
    case 't' => '\t'
    case 'b' => '\b'
    case 'f' => '\f'
    case 'v' => 0x0b
    case 'a' => 0x07
    case _ => -1
  }

  /** HTML's names of letters beyond ASCII; Spark 3.5 writes them in the messages of failed stages. */
  private def latin(name: String): Int = {
    val text = StringEscapeUtils.unescapeHtml4("&" + name + ";")
    if (text.codePointCount(0, text.length) == 1) text.codePointAt(0) else -1
  }

  private def named(name: String): Int = Constants.Entities.getOrElse(name, -1)
}
