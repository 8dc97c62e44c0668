package io.sparkconfig.redaction.engine

import java.nio.charset.StandardCharsets.US_ASCII
import java.security.MessageDigest
import java.util.{ArrayList, HashSet => JHashSet}

import io.sparkconfig.core.Tokens

/**
 * What the driver's Python knows of the registered values: of each of their writings a few bits of a salted hash of one
 * piece. They tell that a text may hold a value, and then it asks [[Redactor]] where; no value can be read from them.
 * The same rules as Python's `redaction/fingerprints.py`.
 */
private[redaction] final class Fingerprints {
  import Fingerprints._

  /** In hexadecimal; another in each JVM. */
  val salt: String = Tokens.hex()
  private val known = new JHashSet[Long]()
  private val inOrder = new ArrayList[Long]()

  def add(text: String): Unit = Variants.of(text).forEach { pattern =>
    val print = of(pattern.text)
    if (known.add(print)) inOrder.add(print)
  }

  /** Those after the first `count`, in the order in which they came: a window's length above 32 bits of its hash. */
  def since(count: Int): Seq[Long] = (math.min(count, inOrder.size) until inOrder.size).map(i => inOrder.get(i))

  private def of(text: String): Long = Levels.iterator.map { case (window, bits) =>
    piece(text, window).map(found => (window.toLong << 32) | hash(found, bits))
  }.collectFirst { case Some(print) => print }.getOrElse(0L)

  private def hash(piece: String, bits: Int): Long = {
    val digest = MessageDigest.getInstance("SHA-256").digest((salt + piece).getBytes(US_ASCII))
    val first = (0 until 4).foldLeft(0L)((number, i) => number << 8 | (digest(i) & 255))
    first >>> (32 - bits)
  }
}

private[redaction] object Fingerprints {

  /** Lengths of windows of letters and digits, and how many bits of a hash are told: far fewer than a window has. */
  private val Levels = Seq(8 -> 24, 4 -> 12, 2 -> 6)

  /** The first window with the most kinds of characters: words and numbers are common in texts. */
  private def piece(text: String, window: Int): Option[String] = {
    var best = Option.empty[String]
    var most = 0
    var run = 0
    var i = 0
    while (i < text.length && i < 512) {
      run = if (Readings.isAlnum(text.charAt(i))) run + 1 else 0
      if (run >= window) {
        val found = text.substring(i + 1 - window, i + 1)
        val kinds = Seq[Char => Boolean](c => c >= 'a', c => c >= 'A' && c <= 'Z', c => c <= '9').count(found.exists)
        if (kinds > most) { best = Some(found); most = kinds }
      }
      i += 1
    }
    best
  }
}
