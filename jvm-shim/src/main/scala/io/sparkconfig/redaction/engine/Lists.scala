package io.sparkconfig.redaction.engine

import java.util.concurrent.ConcurrentHashMap

/**
 * Values as lists of bytes: `[107, 101]` of the JDK, Python and JSON, `[6B 65]` of Spark. A text may have a list where
 * eight characters are digits and separators.
 */
private[redaction] final class Lists {
  import Lists._
  private val byStart = new ConcurrentHashMap[String, List[Needle]]()

  /** Not by two threads at once. */
  def add(needle: Needle): Unit = byStart.merge(needle.text.take(Start), List(needle), (old, more) => more ::: old)

  /** Looks at the list around the eight characters at `p`, if it is one; returns its end. */
  def scan(part: Part, scan: Scan, p: Int): Int =
    if (!byStart.isEmpty && mayBeIn(part.bytes, p)) region(scan, p + part.shift) - part.shift else p

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
  import Bytes.{Highs, Ones, Sevens}

  /** A list of eight numbers is longer. */
  private final val Start = 12

  /** The highest bit of each of eight bytes that is in no list: digits, `,`, ` ` and `-` are all before G. */
  def others(eight: Long): Long = (eight | (eight & Sevens) + ('F' ^ 0x7f) * Ones) & Highs

  private def mayBeIn(bytes: Array[Byte], p: Int): Boolean = {
    var separators = 0
    var i = p
    while (i < p + 8 && inList(bytes(i).toChar)) {
      if (bytes(i) == ',' || bytes(i) == ' ') separators += 1
      i += 1
    }
    i == p + 8 && separators > 0
  }

  private def isDigit(c: Char): Boolean = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F')
  private def inList(c: Char): Boolean = isDigit(c) || c == ',' || c == ' ' || c == '-'
}
