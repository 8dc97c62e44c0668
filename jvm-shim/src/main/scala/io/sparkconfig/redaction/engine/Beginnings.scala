package io.sparkconfig.redaction.engine

import java.nio.charset.StandardCharsets.UTF_8
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
  private val firsts = new JHashSet[Integer]()
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
    firsts.add(text.codePointAt(0))
    longest = math.max(longest, text.length)
  }

  /** The first characters of texts in UTF-8. */
  private lazy val octets: Array[Array[Byte]] =
    firsts.toArray(new Array[Integer](0)).map(first => new String(Character.toChars(first)).getBytes(UTF_8))

  /** The beginnings of their first bytes as decimal numbers. */
  private lazy val decimals: Set[String] =
    octets.flatMap(first => Seq(first(0).toInt, first(0) & 255)).flatMap(_.toString.inits).toSet - ""

  /** Of the patterns that are the beginnings of encodings; null: there are none. */
  private lazy val open: Index = {
    val patterns = indexes.flatMap(_.patterns.filter(_.rest > 0))
    if (patterns.isEmpty) null else new Index(patterns)
  }

  /**
   * How many of the last characters of `text` could be the beginning of a value, or of one before an ellipsis. Those of
   * an encoding that may go on count too, and those of bytes that are written as numbers.
   */
  def atEnd(text: String): Int =
    if (starts.isEmpty) 0 else math.max(dotted(text), math.max(goingOn(text), numbered(text)))

  /** How many are an encoding that is known by its first characters: what follows belongs to it. */
  private def goingOn(text: String): Int =
    if (open == null) 0
    else {
      val search = new Search(text, new Budget(Constants.steps(text.length)))
      search.by(Array(open), Part.mine)
      math.max(0, text.length - search.unfinished)
    }

  /** How many are bytes written as numbers among which a value may have begun. */
  private def numbered(text: String): Int = text.length - begun(Views.openList(text), text.length)

  private def begun(numbers: Numbers, end: Int): Int =
    if (numbers == null) end
    else {
      val view = numbers.view
      val waiting = math.max(undotted(view.text), goingOn(view.text))
      if (waiting > 0) view.positions(view.text.length - waiting)
      else if (numbers.torn.nonEmpty && octets.exists(_.startsWith(numbers.torn))) view.positions(view.text.length)
      else if (decimals.contains(numbers.cut)) end - numbers.cut.length
      else end
    }

  private def dotted(text: String): Int = {
    var until = text.length
    while (until > 0 && text.charAt(until - 1) == '.') until -= 1
    val dots = text.length - until
    val waiting = undotted(text)
    val before = if (dots == 1 || dots == 2) undotted(text.substring(0, until)) else 0
    if (before >= Constants.Floor) math.max(waiting, before + dots) else waiting
  }

  private def undotted(text: String): Int = {
    val budget = new Budget(Constants.steps(text.length))
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

  /**
   * Adds the beginnings of values before an ellipsis: tables, frames and plans show long texts so. They have as many
   * characters as a value must have.
   */
  def addCutShort(text: String, budget: Budget, found: Intervals): Unit = {
    var ellipsis = nextEllipsis(text, 0)
    while (ellipsis >= 0) {
      val dots = text.charAt(ellipsis) == '.'
      var end = ellipsis + 1
      while (dots && end < text.length && text.charAt(end) == '.') end += 1
      val until = if (dots) end - 3 else ellipsis
      val base = math.max(0, until - CutLimit)
      val piece = text.substring(base, until)
      budget.spend(piece.length / 4)
      val readings = new Readings(piece, budget)
      var at = 0
      while (piece.length - at >= Constants.Floor) {
        if (cutShort(readings, piece, at)) {
          if (CommonWords.worthRegistering(piece.substring(at))) found.add(base + at, until)
          at = piece.length
        }
        at += 1
      }
      ellipsis = nextEllipsis(text, end)
    }
  }

  private def cutShort(readings: Readings, piece: String, at: Int): Boolean =
    (1 to Window).exists { width =>
      any(
        starts.get(piece.substring(at, math.min(piece.length, at + width))),
        readings,
        at,
        Constants.Floor,
        openEnd = false)
    }

  private def any(
      texts: ArrayList[String],
      readings: Readings,
      at: Int,
      least: Int = 1,
      openEnd: Boolean = true): Boolean = {
    var i = 0
    while (texts != null && i < texts.size) {
      if (readings.mayBegin(texts.get(i), at, least, openEnd)) return true
      i += 1
    }
    false
  }
}

private[redaction] object Beginnings {
  private val Window = 4

  /** So far before an ellipsis the beginnings of values are looked for. */
  private val CutLimit = 200

  /** The next place of three dots, or of the one character for them; -1: there is none. */
  def nextEllipsis(text: String, from: Int): Int = {
    val dots = text.indexOf("...", from)
    val one = text.indexOf('\u2026', from)
    if (dots < 0 || one >= 0 && one < dots) one else dots
  }
}
