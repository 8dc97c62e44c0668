package io.sparkconfig.redaction.engine

import java.util.{ArrayList, HashMap => JHashMap, HashSet => JHashSet}

/**
 * Tells whether the end of a text could be the beginning of a value. The same rules as Python's `redaction.split`.
 * Built when a stream holds an unfinished line, since nothing else needs it.
 */
private[redaction] final class Beginnings(indexes: Array[Index]) {
  import Beginnings._

  private val starts = new JHashMap[String, ArrayList[String]]()
  private val heads = new JHashSet[String]()
  private val signs = new ArrayList[String]()
  private var longest = 0

  indexes.foreach(_.patterns.foreach(pattern => add(pattern.text)))

  private def add(text: String): Unit = {
    var width = 1
    while (Readings.isAlnum(text.charAt(0)) && width < math.min(Window, text.length) &&
      Readings.isAlnum(text.charAt(width))) width += 1
    val key = text.substring(0, width)
    starts.computeIfAbsent(key, _ => new ArrayList[String]()).add(text)
    (1 until width).foreach(n => heads.add(key.substring(0, n)))
    if (!Readings.isAlnum(text.charAt(0))) signs.add(text)
    longest = math.max(longest, text.length)
  }

  /** How many of the last characters of `text` could be the beginning of a value. */
  def atEnd(text: String): Int = {
    val budget = new Budget(64L * text.length + 16000000L)
    val readings = new Readings(text, budget)
    // Each character may be written as six.
    var at = math.max(0, text.length - 6 * longest)
    while (at < text.length) {
      val left = text.length - at
      if (left < Window && heads.contains(text.substring(at))) return left
      var width = 1
      while (width <= math.min(Window, left)) {
        if (any(starts.get(text.substring(at, at + width)), readings, at)) return left
        width += 1
      }
      val c = text.charAt(at)
      if ((c == '\\' || c == '&' || c == '%') && any(signs, readings, at)) return left
      at += 1
    }
    0
  }

  private def any(texts: ArrayList[String], readings: Readings, at: Int): Boolean = {
    var i = 0
    while (texts != null && i < texts.size) {
      if (readings.mayBegin(texts.get(i), at)) return true
      i += 1
    }
    false
  }
}

private object Beginnings {
  private val Window = 4
}
