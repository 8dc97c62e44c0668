package io.sparkconfig.redaction.engine

/**
 * The words by which a text may be an error. A search for each of them costs more than that for thousands of values, so
 * a scan looks at four characters at every other place, and at the words only where one of them may stand.
 */
private[redaction] object ErrorSigns {
  private val Common = "etaoinsrhldcumfpgwybv "
  private final val Gram = 4

  /** At each such place there is a gram. */
  final val Step = 2
  private val signs = Constants.ErrorSigns

  // A word of five letters has two such grams, one of them at an even place wherever it stands.
  private val offsets = signs.map(rarest)

  /** The grams by which they are found; the last character of one may be any. */
  val grams: Array[Int] = signs.indices.toArray.flatMap { i =>
    (0 until Step).flatMap { more =>
      val written = signs(i).slice(offsets(i) + more, offsets(i) + more + Gram)
      val known = Bytes.int(written.getBytes("ISO-8859-1").padTo(8, 0.toByte), 0)
      if (written.length == Gram) Seq(known) else (0 to 0xff).map(known | _ << 24)
    }
  }
  private val filter = new Filter(grams.length.toLong)
  grams.foreach(filter.add)

  /**
   * Whether fragments are looked for in a log line or an event: there they cost more than all else, and only errors
   * quote them.
   */
  def in(text: String): Boolean = {
    val part = Part.mine
    var base = 0
    while (base < text.length) {
      part.copy(text, base)
      if (in(text, part)) return true
      base += Bytes.Chunk
    }
    false
  }

  /** [[in]] for a chunk of a text; a word may reach into the next one. */
  def in(text: String, part: Part): Boolean = {
    val bytes = part.bytes
    val last = part.end
    var p = part.begin
    while (p < last) {
      if (mayBeAt(bytes, p) && at(text, p + part.shift)) return true
      p += Step
    }
    false
  }

  /** Whether the four characters at `p` are a gram of a word, or of a few others. */
  def mayBeAt(bytes: Array[Byte], p: Int): Boolean = filter.mayHold(Bytes.int(bytes, p))

  /** Whether a word stands where its gram at `p` would be its own. */
  def at(text: String, p: Int): Boolean = {
    var i = 0
    while (i < signs.length) {
      val start = p - offsets(i)
      if (text.startsWith(signs(i), start) || text.startsWith(signs(i), start - 1)) return true
      i += 1
    }
    false
  }

  /** Where the two grams begin that have the rarest letters. */
  private def rarest(sign: String): Int = {
    require(sign.length >= Gram, s"'$sign' is too short")
    def commonest(from: Int) = sign.slice(from, from + Gram + 1).map(c => Common.indexOf(c.toInt)).map(i =>
      if (i < 0) 0 else Common.length - i).sum
    (0 to math.max(0, sign.length - Gram - 1)).minBy(commonest)
  }
}
