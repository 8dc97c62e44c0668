package io.sparkconfig.redaction.engine

/**
 * The signs of a text by which other writings of a value, or other values, may be in it; cheap tests, so that most
 * texts need nothing else.
 */
private[redaction] final class Signs {
  import Signs._

  /** Whether there may be a percent sign or an ampersand. */
  var percents = false

  /** Whether there may be a backslash or an opening bracket. */
  var brackets = false

  /** Whether there may be an ellipsis. */
  var dots = false

  /** Whether there may be [[Views]]. */
  def views: Boolean = percents || brackets

  def check(part: Part): Unit =
    // In a long text `indexOf` finds them faster.
    if (part.end - part.begin > Short) { percents = true; brackets = true; dots = true }
    else look(part.bytes, part.begin, part.end)

  /** Each pair are neighbours in ASCII; characters beyond ASCII may be taken for them. */
  private def look(bytes: Array[Byte], from: Int, until: Int): Unit = {
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
  private final val Short = 512
  private final val Ones = 0x0101010101010101L
  private final val Sevens = 0x7f * Ones
  private final val Dots = '.' * Ones
  private final val Last = 0x80L << 56
}
