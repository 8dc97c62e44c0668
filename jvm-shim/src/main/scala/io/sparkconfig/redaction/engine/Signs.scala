package io.sparkconfig.redaction.engine

/** The signs of a text by which a value may be written in another way; cheap tests, so that most texts need no more. */
private[redaction] final class Signs {
  import Signs._

  /** Whether there may be a percent sign, an ampersand or a backslash. */
  var escapes = false

  /** Whether there may be an ellipsis. */
  var dots = false

  def check(part: Part): Unit =
    // In a long text `indexOf` finds them faster.
    if (part.end - part.begin > Short) { escapes = true; dots = true }
    else look(part.bytes, part.begin, part.end)

  /** Characters beyond ASCII may be taken for them. */
  private def look(bytes: Array[Byte], from: Int, until: Int): Unit = {
    var low = 0L
    var back = -1L
    var two = 0L
    var p = from
    while (p < until) {
      val x = Bytes.long(bytes, p) & Sevens
      // The two are neighbours in ASCII.
      low |= (x + (0x80 - '%') * Ones) & ~(x + (0x7f - '&') * Ones)
      back &= (x ^ Backslashes) + Sevens
      // Of three dots two are in the same eight bytes.
      val others = (x ^ Dots) + Sevens
      two |= ~(others | others >>> 8 | Last)
      p += 8
    }
    if (((low | ~back) & ~Sevens) != 0L) escapes = true
    // The ellipsis that is one character ends with the byte of an ampersand.
    if ((two & ~Sevens) != 0L || escapes) dots = true
  }
}

private[redaction] object Signs {
  private final val Short = 512
  private final val Ones = 0x0101010101010101L
  private final val Sevens = 0x7f * Ones
  private final val Backslashes = '\\' * Ones
  private final val Dots = '.' * Ones
  private final val Last = 0x80L << 56
}
