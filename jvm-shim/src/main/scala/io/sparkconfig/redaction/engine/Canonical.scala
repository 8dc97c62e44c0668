package io.sparkconfig.redaction.engine

import java.nio.charset.StandardCharsets.UTF_8

/**
 * A text after some rounds.
 * @param start   where the text as it came, of which this is a form, begins in a longer one
 * @param before  the form from which it was made; null: it is the text as it came
 * @param origins where each character begins in the form before, with all that writes it, and where the last one ends
 */
private[redaction] final class Form(
    val text: String,
    val start: Int = 0,
    val before: Form = null,
    origins: Array[Int] = null) {

  /** Where in the form before the character at `at` begins. */
  def back(at: Int): Int = origins(at)

  /** Where in the whole text as it came the character at `at` begins. */
  def raw(at: Int): Int = {
    var form = this
    var p = at
    while (form.before != null) { p = form.back(p); form = form.before }
    start + p
  }
}

/**
 * A text with its escapes undone, round by round: in one of these forms a value stands as it is. One round undoes one
 * layer of every kind at once: backslashes (JSON, JavaScript, SQL, Java properties, Python), percent signs and
 * entities. Linear in the text. Python's mirror is `canonical.py`; both read `redaction.json`.
 */
private[redaction] object Canonical {

  /** The text as it is, and what each round makes of it, until nothing changes. */
  def forms(text: String): Iterator[Form] = { val first = new Form(text); Iterator.single(first) ++ after(first) }

  /** What each round makes of a form. */
  def after(first: Form): Iterator[Form] =
    Iterator.iterate(next(first))(form => if (form == null) null else next(form)).takeWhile(_ != null)
      .take(Constants.Rounds)

  /** Whether letters or digits of a value, or the sign of another escape, may be written as something else. */
  def hidesLetters(text: String): Boolean =
    any(text, '\\')(i =>
      i < text.length && (text.charAt(i) match {
        case 'u' | 'U' | 'x' => true
        case '0' | '1' | '2' | '3' => number(text, i + 1, 2, 8) >= 0
        case _ => false
      })) || any(text, '%') { i =>
      val octet = number(text, i, 2, 16)
      octet == '%' || octet == '&' || octet == '\\' || octet >= 0x80 || octet >= 0 && Needle.isAlnum(octet.toChar)
    } || any(text, '&')(i =>
      i < text.length && ("#\\".indexOf(text.charAt(i).toInt) >= 0 || isLetter(text.charAt(i)) &&
        !Signs.exists(text.startsWith(_, i))))

  /** Entities that write a sign that begins no escape. */
  private val Signs = Seq("lt;", "gt;", "quot;", "apos;", "nbsp;")

  private def any(text: String, sign: Char)(behind: Int => Boolean): Boolean = {
    var at = text.indexOf(sign.toInt)
    while (at >= 0) {
      if (behind(at + 1)) return true
      at = text.indexOf(sign.toInt, at + 1)
    }
    false
  }

  /** One layer less; null: nothing is escaped. */
  private def next(form: Form): Form = {
    val reader = new Reader(form.text)
    reader.read()
    if (reader.changed) new Form(reader.out.toString, form.start, form, reader.places) else null
  }

  private final class Reader(text: String) {
    val out = new java.lang.StringBuilder(text.length)
    private val origins = new Array[Int](text.length + 1)
    var changed = false
    private var at = 0

    /** Where a backslash stands that belongs to the next character; -1: there is none. */
    private var quoting = -1

    def places: Array[Int] = { origins(out.length) = text.length; java.util.Arrays.copyOf(origins, out.length + 1) }

    def read(): Unit = while (at < text.length) {
      val known = text.charAt(at) match {
        case '\\' => backslash()
        case '%' => octets()
        case '&' => entity()
        case _ => false
      }
      if (!known) { put(text.charAt(at), at); at += 1; plain() }
    }

    /** Takes what begins no escape, many characters at once. */
    private def plain(): Unit = {
      val from = at
      val shift = out.length - from
      while (at < text.length && !isSign(text.charAt(at))) { origins(at + shift) = at; at += 1 }
      out.append(text, from, at)
    }

    private def isSign(c: Char): Boolean = c == '\\' || c == '%' || c == '&'

    private def put(char: Char, origin: Int): Unit = {
      origins(out.length) = if (quoting >= 0) quoting else origin
      quoting = -1
      out.append(char)
    }

    /** The code that ends before `end`; false: it is none. */
    private def code(value: Int, end: Int): Boolean = value >= 0 && value <= Character.MAX_CODE_POINT && {
      Character.toChars(value).foreach(put(_, at))
      at = end
      changed = true
      true
    }

    private def backslash(): Boolean = {
      val i = at + 1
      if (i == text.length) return false
      val known = text.charAt(i) match {
        case '\\' => code('\\', i + 1)
        case 'u' =>
          var digits = i
          while (digits < text.length && text.charAt(digits) == 'u') digits += 1
          code(number(text, digits, 4, 16), digits + 4)
        case 'U' => code(number(text, i + 1, 8, 16), i + 9)
        case _ => octets()
      }
      if (!known) {
        if (quoting < 0) quoting = at
        at = i
        changed = true
      }
      // The next character is looked at as usual.
      true
    }

    /** Bytes as `\xNN`, in octal or with percent signs: UTF-8, or each the character of its number. */
    private def octets(): Boolean = {
      val first = octetAt(at)
      if (first < 0) return false
      val lead = first & 0xff
      val width = if (lead < 0xc0) 1 else if (lead < 0xe0) 2 else if (lead < 0xf0) 3 else 4
      val bytes = new Array[Byte](width)
      bytes(0) = lead.toByte
      var end = at + widthAt(at)
      var count = 1
      while (count < width && end >= 0) {
        val more = octetAt(end)
        if (more < 0) end = -1 else { bytes(count) = more.toByte; end += widthAt(end); count += 1 }
      }
      val shown = if (lead < 0x80 || end < 0) null else decoded(bytes)
      if (shown == null) { put(lead.toChar, at); at += widthAt(at) }
      else { shown.foreach(put(_, at)); at = end }
      changed = true
      true
    }

    private def widthAt(p: Int): Int = if (text.charAt(p) == '%') 3 else 4

    private def octetAt(p: Int): Int =
      if (p >= text.length) -1
      else if (text.charAt(p) == '%') number(text, p + 1, 2, 16)
      else if (text.charAt(p) != '\\' || p + 1 == text.length) -1
      else if (text.charAt(p + 1) == 'x') number(text, p + 2, 2, 16)
      else if (text.charAt(p + 1) <= '3') number(text, p + 1, 3, 8)
      else -1

    private def entity(): Boolean = {
      var i = at + 1
      if (i < text.length && text.charAt(i) == '#') {
        val radix = if (i + 1 < text.length && (text.charAt(i + 1) | 0x20) == 'x') 16 else 10
        i += (if (radix == 16) 2 else 1)
        while (digit(text, i + 1, radix) >= 0 && text.charAt(i) == '0') i += 1
        var end = i
        while (end < text.length && end < i + (if (radix == 16) 6 else 7) && digit(text, end, radix) >= 0) end += 1
        end < text.length && text.charAt(end) == ';' && code(number(text, i, end - i, radix), end + 1)
      } else {
        while (i < text.length && i <= at + LongestName && Needle.isAlnum(text.charAt(i))) i += 1
        val shown =
          if (i < text.length && text.charAt(i) == ';') Constants.Names.get(text.substring(at + 1, i)) else null
        shown != null && { val from = at; shown.foreach(put(_, from)); at = i + 1; changed = true; true }
      }
    }
  }

  private val LongestName = 10

  private def decoded(bytes: Array[Byte]): String = {
    val text = new String(bytes, UTF_8)
    if (java.util.Arrays.equals(text.getBytes(UTF_8), bytes)) text else null
  }

  private def isLetter(c: Char): Boolean = (c | 0x20) >= 'a' && (c | 0x20) <= 'z'

  /** ASCII digits alone, as Python reads them. */
  def digit(text: String, at: Int, radix: Int): Int =
    if (at >= text.length || text.charAt(at) >= 0x80) -1 else Character.digit(text.charAt(at), radix)

  /** The number of exactly `digits` digits, or -1. */
  def number(text: String, from: Int, digits: Int, radix: Int): Int = {
    var value = if (digits < 1) -1L else 0L
    var i = from
    while (value >= 0 && i < from + digits) {
      val next = digit(text, i, radix)
      value = if (next < 0 || value > Int.MaxValue / radix) -1 else value * radix + next
      i += 1
    }
    if (value > Int.MaxValue) -1 else value.toInt
  }
}
