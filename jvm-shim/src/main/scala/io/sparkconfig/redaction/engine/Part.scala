package io.sparkconfig.redaction.engine

/** A chunk of a text with its neighbours, as bytes. Each thread has one, for one text after the other. */
private[redaction] final class Part {
  import Bytes.{Highs, Ones, Sevens}
  val bytes: Array[Byte] = Bytes.buffer()

  /** Where the chunk is in [[bytes]]. */
  var begin = 0
  var end = 0

  /** Where the text in [[bytes]] ends: around the chunk are some of its neighbours. */
  var limit = 0

  /** What is to be added to a position in [[bytes]] to get the one in the text. */
  var shift = 0

  /** Notes whether escapes and ellipses may be in it; in a long text `indexOf` finds them faster. */
  def noteSigns(scan: Scan): Unit = {
    var escapes = if (end - begin > Part.Short) Highs else 0L
    var dots = escapes
    var p = if (dots == 0L) begin else end
    while (p < end) {
      val x = Bytes.long(bytes, p) & Sevens
      // The first two are neighbours in ASCII. Characters beyond it may be taken for them.
      escapes |= (x + (0x80 - '%') * Ones) & ~(x + (0x7f - '&') * Ones) | ~((x ^ '\\' * Ones) + Sevens)
      // Of three dots two are in the same eight bytes. The one character for them ends with the byte of an ampersand.
      val others = (x ^ '.' * Ones) + Sevens
      dots |= ~(others | others >>> 8 | 0x80L << 56)
      p += 8
    }
    scan.escapes ||= (escapes & Highs) != 0L
    scan.dots ||= ((dots | escapes) & Highs) != 0L
  }

  /** Takes the chunk of `text` that begins at `base`. */
  def copy(text: String, base: Int): Unit = {
    val from = math.max(0, base - Bytes.Margin)
    val until = math.min(text.length, base + Bytes.Chunk + Bytes.Margin)
    Bytes.copy(text, from, until, bytes)
    shift = from - Bytes.Lead
    begin = base - shift
    end = math.min(text.length, base + Bytes.Chunk) - shift
    limit = until - shift
  }
}

private[redaction] object Part {
  private final val Short = 512
  private val parts = new ThreadLocal[Part] {
    override def initialValue(): Part = new Part
  }

  /** This thread's. */
  def mine: Part = parts.get()
}
