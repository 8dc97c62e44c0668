package io.sparkconfig.redaction.engine

/** Fits matches into the text around them, so that what remains is as valid as it was. */
private[redaction] object Edges {
  def mend(text: String, found: Intervals, json: Boolean): Intervals = {
    val out = new Intervals
    lazy val strings = JsonStrings.places(text)
    var i = 0
    while (i < found.size) {
      val start = found.start(i)
      val end = found.end(i)
      if (json && isNumbers(text, start, end)) {
        // A longer number that holds these digits is a time or a size, and no text of its own.
        if (strings.hold(start, end) || wholeNumber(text, start, end)) out.add(start, end)
      } else out.add(left(text, start), right(text, end))
      i += 1
    }
    out.settle()
    out
  }

  /** A match that begins behind an escaping backslash takes it along: `\n` + `otasecret`. */
  private def left(text: String, start: Int): Int = {
    var p = start
    while (p > 0 && text.charAt(p - 1) == '\\') p -= 1
    if (((start - p) & 1) == 1) start - 1 else start
  }

  /** A match that ends among backslashes takes whole escapes: the last one may belong to a closing quote. */
  private def right(text: String, end: Int): Int =
    if (text.charAt(end - 1) != '\\') end
    else {
      var from = end
      while (from > 0 && text.charAt(from - 1) == '\\') from -= 1
      var until = end
      while (until < text.length && text.charAt(until) == '\\') until += 1
      val run = until - from
      if (run == 1 || (run & 1) == 0) until else until - 1
    }

  /** Whether it is a number, or some of a list. */
  def isNumbers(text: String, start: Int, end: Int): Boolean =
    (start until end).forall(i => inNumber(text.charAt(i)) || ", ".indexOf(text.charAt(i).toInt) >= 0)

  private def inNumber(c: Char): Boolean =
    (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E'

  private def wholeNumber(text: String, start: Int, end: Int): Boolean =
    (start == 0 || !inNumber(text.charAt(start - 1))) && (end == text.length || !inNumber(text.charAt(end)))
}
