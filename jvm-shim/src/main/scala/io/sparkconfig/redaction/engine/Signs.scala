package io.sparkconfig.redaction.engine

/**
 * The signs of a text by which other writings of a value, or other values, may be in it; cheap tests, so that most
 * texts need nothing else.
 * @param errors whether it is to be learnt if the text may be an error, see [[ErrorSigns]]
 */
private[redaction] final class Signs(errors: Boolean) {
  import Signs._

  /** Whether it is to be learnt if the text may be an error, and not known yet. */
  var wantsErrors: Boolean = errors

  /** Whether three colons stand three characters apart, as in a list of pairs of digits that is long enough. */
  var colons = false

  /** Whether there may be a percent sign or an ampersand. */
  var percents = false

  /** Whether there may be a backslash or an opening bracket. */
  var brackets = false

  /** Whether there may be an ellipsis. */
  var dots = false

  /** Whether there may be [[Views]]. */
  def views: Boolean = colons || percents || brackets

  /** Whether the text may be an error. */
  def error: Boolean = errors && !wantsErrors
  def foundError(): Unit = wantsErrors = false

  /** @param withErrors whether somebody else looks for errors */
  def check(part: Part, withErrors: Boolean): Unit = {
    if (!colons) lookForColons(part.bytes, part.begin, part.end)
    // In a long text `indexOf` finds them faster.
    if (part.end - part.begin > Short) { percents = true; brackets = true; dots = true }
    else lookForOthers(part.bytes, part.begin, part.end)
    if (wantsErrors && !withErrors && ErrorSigns.in(part.search.text, part)) foundError()
  }

  private def lookForColons(bytes: Array[Byte], from: Int, until: Int): Unit = {
    var p = from
    while (p < until) {
      val x = Bytes.long(bytes, p) ^ Colons
      val zeros = ~(((x & Sevens) + Sevens) | x | Sevens)
      // A time has two.
      if ((zeros & (zeros >>> 24)) != 0L && three(bytes, p)) { colons = true; return }
      p += Step
    }
  }

  private def three(bytes: Array[Byte], p: Int): Boolean = {
    var at = math.max(0, p - 3)
    while (at < p + 5) {
      if (isColon(bytes, at) && isColon(bytes, at + 3) && isColon(bytes, at + 6)) return true
      at += 1
    }
    false
  }

  private def isColon(bytes: Array[Byte], at: Int): Boolean = bytes(at) == ':'

  /** Each pair are neighbours in ASCII; characters beyond ASCII may be taken for them. */
  private def lookForOthers(bytes: Array[Byte], from: Int, until: Int): Unit = {
    var low = 0L
    var high = 0L
    var two = 0L
    var p = from
    while (p < until) {
      val x = Bytes.long(bytes, p) & Sevens
      low |= (x + (0x80 - '%') * Ones) & ~(x + (0x7f - '&') * Ones)
      high |= (x + (0x80 - '[') * Ones) & ~(x + (0x7f - '\\') * Ones)
      // Of three dots two are in the same eight bytes.
      val others = (x ^ Dots) + Sevens
      two |= ~(others | others >>> 8 | Last)
      p += 8
    }
    if ((low & ~Sevens) != 0L) percents = true
    if ((high & ~Sevens) != 0L) brackets = true
    // The ellipsis that is one character ends with the byte of an ampersand.
    if ((two & ~Sevens) != 0L || percents) dots = true
  }
}

private[redaction] object Signs {
  // The shortest list has seven colons. Wherever it begins, one of the places looked at has two of them in its eight
  // bytes, and a third one beside these.
  private final val Step = 20
  private final val Short = 512
  private final val Ones = 0x0101010101010101L
  private final val Sevens = 0x7f * Ones
  private final val Colons = ':' * Ones
  private final val Dots = '.' * Ones
  private final val Last = 0x80L << 56
}
