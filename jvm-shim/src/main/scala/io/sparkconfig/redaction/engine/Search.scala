package io.sparkconfig.redaction.engine

import java.util.concurrent.{ConcurrentHashMap, ConcurrentSkipListSet}

/**
 * Where needles stand in a text: one look at the text as it is, and at its forms only if it may hold one. Adding a
 * needle costs its own length; searches go on meanwhile and take no lock. Python's mirror is `search.py`.
 */
private[redaction] final class Search {
  private val index = new Index

  /** Those without a head or a tail: they count only where an escape has been undone. */
  private val headless = new Index

  /** Needles in order, by what they begin with: all, and those of which an ellipsis may cut. */
  private val starts = new ConcurrentSkipListSet[String]()
  private val shownWhole = new ConcurrentSkipListSet[String]()
  private val heads = ConcurrentHashMap.newKeySet[String]()

  /** The length of the longest needle. */
  @volatile var longest = 0

  /** Not by two threads at once. */
  def add(needle: Needle): Unit = {
    val text = needle.text
    (1 to math.min(Search.Start, text.length)).foreach(n => heads.add(text.substring(0, n)))
    starts.add(text)
    if (needle.kind == Needle.Whole && !needle.isPart) shownWhole.add(text)
    longest = math.max(longest, text.length)
    (if (needle.isPart) headless else index).add(needle)
  }

  /** Whether the characters of a text from `at` until `end` begin a needle. */
  def begins(text: String, at: Int, end: Int, whole: Boolean = false): Boolean =
    heads.contains(text.substring(at, math.min(at + Search.Start, end))) && {
      val piece = text.substring(at, end)
      val next = (if (whole) shownWhole else starts).ceiling(piece)
      next != null && next.startsWith(piece)
    }

  /** @param reader of the text */
  def find(text: String, reader: Reader): Intervals = {
    val found = new Intervals
    val raw = new Form(text)
    val scan = new Scan(raw, found, reader)
    index.scan(scan)
    val cut = scan.dots && !reader.isClient && Search.nextEllipsis(text, 0) >= 0
    if (cut) addCutShort(raw, found)
    if (scan.escapes && (scan.hit || cut || index.mayHoldBare(text) || Canonical.hidesLetters(text)))
      pieces(raw).foreach(Canonical.after(_).foreach { form =>
        val inside = new Scan(form, found, reader)
        index.scan(inside)
        headless.scan(inside)
        if (!reader.isClient) addCutShort(form, found)
      })
    found
  }

  /** The forms of a text take several times its memory. Each place is in a piece with what may belong to it. */
  private def pieces(raw: Form): Iterator[Form] = {
    val text = raw.text
    val shared = math.max(Search.Shared, Search.LongestEscape * longest)
    val step = math.max(Search.Piece, shared)
    if (text.length <= step + shared) Iterator.single(raw)
    else Iterator.range(0, text.length, step)
      .map(at => new Form(text.substring(at, math.min(text.length, at + step + shared)), at))
  }

  /** Adds the beginnings of values before an ellipsis: tables, frames and plans show long texts so. */
  private def addCutShort(form: Form, found: Intervals): Unit = {
    val text = form.text
    var last = 0
    var ellipsis = Search.nextEllipsis(text, 0)
    while (ellipsis >= 0) {
      val sign = text.charAt(ellipsis)
      var end = ellipsis + 1
      while (end < text.length && text.charAt(end) == sign) end += 1
      // Of a row the last one counts.
      val until = if (sign == '.') end - 3 else end - 1
      var at = math.max(last, until - Constants.BeginningWithin)
      while (until - at >= Constants.BeginningLeast) {
        if (begins(text, at, until, whole = true) && CommonWords.worthRegistering(text.substring(at, until))) {
          found.add(form.raw(at), form.raw(until))
          at = until
        }
        at += 1
      }
      last = end
      ellipsis = Search.nextEllipsis(text, end)
    }
  }
}

private[redaction] object Search {
  private val Start = 3
  private val Piece = 1 << 22
  private val Shared = 1 << 16

  /** So many characters write one of a value's; those of very long values. */
  private val LongestEscape = 16

  /** The next place of three dots, or of the one character for them; -1: there is none. */
  def nextEllipsis(text: String, from: Int): Int = {
    val dots = text.indexOf("...", from)
    val one = text.indexOf('\u2026', from)
    if (dots < 0 || one >= 0 && one < dots) one else dots
  }
}

/** One form of a text that is searched, and what is found in it, as places in the text as it came. */
private[redaction] final class Scan(val form: Form, found: Intervals, reader: Reader) {
  val text: String = form.text

  /** Whether the text as it came may hold escapes, and an ellipsis. */
  var escapes = false
  var dots = false

  /** Whether a window of a needle stands here, and what may be its next character: it may stand here with escapes. */
  var hit = false

  /** A window of a needle may stand at `at`. */
  def window(needle: Needle, offset: Int, width: Int, at: Int): Unit =
    if (text.regionMatches(at, needle.text, offset, width)) {
      val next = offset + width
      hit ||= next == needle.text.length || goesOn(at + width, needle.text.charAt(next))
      val start = at - offset
      if (start >= 0 && text.startsWith(needle.text, start)) matched(needle, start)
    }

  /** Whether `char` may follow here: as itself, as an escape, or after the end of this text. */
  private def goesOn(at: Int, char: Char): Boolean =
    at == text.length || text.charAt(at) == char || "\\%&".indexOf(text.charAt(at).toInt) >= 0

  def matched(needle: Needle, start: Int): Unit =
    if ((!needle.isPart || stoodWithin(needle, start)) && !reader.mayRead(needle)) {
      var from = start
      var end = start + needle.text.length
      if (needle.kind == Needle.Encoded) {
        if (from > 0 && Needle.ofEncodings(text.charAt(from - 1))) from -= 1
        if (end < text.length && Needle.ofEncodings(text.charAt(end))) end += 1
      }
      found.add(form.raw(from), form.raw(end))
    }

  /** Whether what a needle lacks stood around it, in earlier forms: escapes have taken it. */
  private def stoodWithin(needle: Needle, start: Int): Boolean =
    (needle.head.isEmpty || behind(needle.head, start)) &&
      (needle.tail.isEmpty || before(needle.tail, start + needle.text.length))

  /** Whether `head` stood before this place, or in what writes it; a tail is looked for in the latter alone. */
  private def behind(head: String, at: Int): Boolean = {
    var now = form
    var first = at
    var last = at
    while (now.before != null) {
      first = now.back(first)
      last = now.back(last + 1) - 1
      now = now.before
      val found = now.text.indexOf(head, math.max(0, first - head.length))
      if (found >= 0 && found + head.length <= last) return true
    }
    false
  }

  private def before(tail: String, at: Int): Boolean = {
    var now = form
    var p = at
    var end = math.min(at + 1, now.text.length)
    while (now.before != null) {
      p = now.back(p)
      end = now.back(end)
      now = now.before
      if ((p until end).exists(now.text.startsWith(tail, _))) return true
    }
    false
  }
}
