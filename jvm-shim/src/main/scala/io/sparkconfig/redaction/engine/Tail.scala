package io.sparkconfig.redaction.engine

/**
 * What a stream holds back: the end of a text that could be the beginning of a value, or of an escape. Python's mirror
 * is `tail.py`.
 */
private[redaction] object Tail {

  /** How many of the last characters wait for what comes next. */
  def of(search: Search, text: String): Int = if (search.longest == 0) 0
  else {
    val end = text.substring(math.max(0, text.length - Constants.LongestTail))
    var start = begun(search, end)
    // At its end may be a cut escape.
    var at = end.length
    while (at > 0 && end.length - at < Constants.LongestCutEscape && isOfEscape(end.charAt(at - 1))) {
      at -= 1
      if ("\\&%".indexOf(end.charAt(at).toInt) >= 0) start = math.min(start, begun(search, end.substring(0, at)))
    }
    // A sign of an encoding beside a needle belongs to it.
    if (start > 0 && start < end.length && Needle.ofEncodings(end.charAt(start - 1))) start -= 1
    end.length - start
  }

  private def begun(search: Search, text: String): Int =
    Canonical.forms(text).map { form =>
      val start = form.raw(begunIn(search, form.text, form.text.length))
      var until = form.text.length
      while (until > 0 && form.text.charAt(until - 1) == '.') until -= 1
      val dots = form.text.length - until
      val before = if (dots == 1 || dots == 2) begunIn(search, form.text, until) else until
      if (until - before >= Constants.BeginningLeast) math.min(start, form.raw(before)) else start
    }.min

  /** Where the longest end of a text begins that is the beginning of a needle. */
  private def begunIn(search: Search, text: String, end: Int): Int = {
    var at = math.max(0, end - search.longest + 1)
    while (at < end && !search.begins(text, at, end)) at += 1
    at
  }

  private def isOfEscape(c: Char): Boolean = Needle.isAlnum(c) || "\\&%#;".indexOf(c.toInt) >= 0
}
