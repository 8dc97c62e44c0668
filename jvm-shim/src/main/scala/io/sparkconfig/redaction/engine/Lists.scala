package io.sparkconfig.redaction.engine

import java.util.concurrent.ConcurrentHashMap

/**
 * Values as lists of bytes: `[107, 101]` of the JDK, Python and JSON, `[6B 65]` of Spark. Eight characters at every
 * sixteenth position tell whether a text may have a list.
 */
private[redaction] final class Lists {
  import Bytes.{Highs, Ones, Sevens}
  import Lists._
  private val byStart = new ConcurrentHashMap[String, List[Needle]]()

  /** Not by two threads at once. */
  def add(needle: Needle): Unit = byStart.merge(needle.text.take(Start), List(needle), (old, more) => more ::: old)

  def used: Boolean = !byStart.isEmpty

  def scan(part: Part, scan: Scan): Unit = {
    val bytes = part.bytes
    var p = part.begin
    while (p < part.end) {
      val eight = Bytes.long(bytes, p)
      // Digits and `,` ` ` `-`, or hexadecimal ones, all before G.
      if (((eight | (eight & Sevens) + ('F' ^ 0x7f) * Ones) & Highs) == 0L && mayBeIn(bytes, p)) {
        val end = region(scan, p + part.shift) - part.shift
        while (p < end) p += Step
      } else p += Step
    }
  }

  private def mayBeIn(bytes: Array[Byte], p: Int): Boolean = {
    var separators = 0
    var i = p
    while (i < p + 8) {
      val c = bytes(i).toChar
      if (!inList(c)) return false
      if (c == ',' || c == ' ') separators += 1
      i += 1
    }
    separators > 0
  }

  /** Looks at each number of the list around `at`; returns the list's end. */
  private def region(scan: Scan, at: Int): Int = {
    val text = scan.text
    var from = at
    // What is before another place of the same list was looked at.
    while (from > 0 && inList(text.charAt(from - 1))) from -= 1
    var p = from
    while (p < text.length && inList(text.charAt(p))) {
      if (text.charAt(p) != ',' && text.charAt(p) != ' ' && (p == from || !isDigit(text.charAt(p - 1))) &&
        p + Start <= text.length) {
        var found = byStart.getOrDefault(text.substring(p, p + Start), Nil)
        while (found.nonEmpty) {
          if (text.startsWith(found.head.text, p)) scan.matched(found.head, p)
          found = found.tail
        }
      }
      p += 1
    }
    p
  }
}

private object Lists {

  /** A list of eight numbers is longer. */
  private final val Start = 12
  private final val Step = 16

  private def isDigit(c: Char): Boolean = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F')
  private def inList(c: Char): Boolean = isDigit(c) || c == ',' || c == ' ' || c == '-'
}
