package io.sparkconfig.redaction.engine

/**
 * The words by which a text may be an error. A search for each of them costs more than that for thousands of values, so
 * this looks at three characters at every other place, and at the words only where one of them may stand.
 */
private[redaction] object ErrorSigns {
  private val Common = " etaoinsrhldcumfpgwybv"
  private val Gram = 3
  private val Mask = 0xffffffL
  private val LogBits = 15
  private val signs = Constants.ErrorSigns

  // A word of four letters has two such grams, one of them at an even place wherever it stands.
  private val offsets = signs.map(rarest)
  private val bits = new Array[Long](1 << (LogBits - 6))
  signs.indices.foreach { i =>
    Seq(0, 1).foreach { more =>
      val gram =
        signs(i).substring(offsets(i) + more, offsets(i) + more + Gram).getBytes("ISO-8859-1").padTo(8, 0.toByte)
      val h = hash(Bytes.int(gram, 0))
      bits((h >>> 6).toInt) |= 1L << h
    }
  }

  /**
   * Whether fragments are looked for in a log line or an event: there they cost more than all else, and only errors
   * quote them.
   * @param bytes this thread's buffer
   */
  def in(text: String, bytes: Array[Byte]): Boolean = {
    var base = 0
    while (base < text.length) {
      val until = math.min(text.length, base + Bytes.Chunk + Bytes.Margin)
      Bytes.copy(text, base, until, bytes)
      val last = until - base
      var p = 0
      while (p < last) {
        val h = hash(Bytes.int(bytes, p))
        if ((bits((h >>> 6).toInt) & (1L << h)) != 0L && at(text, base + p)) return true
        p += 2
      }
      base += Bytes.Chunk
    }
    false
  }

  private def at(text: String, p: Int): Boolean = {
    var i = 0
    while (i < signs.length) {
      val start = p - offsets(i)
      if (text.startsWith(signs(i), start) || text.startsWith(signs(i), start - 1)) return true
      i += 1
    }
    false
  }

  private def hash(four: Int): Long = ((four & Mask) * Index.Mix) >>> (64 - LogBits)

  /** Where the two grams begin that have the rarest letters. */
  private def rarest(sign: String): Int = {
    require(sign.length > Gram, s"'$sign' is too short")
    def commonest(from: Int) = sign.substring(from, from + Gram + 1).map(c => Common.indexOf(c.toInt)).map(i =>
      if (i < 0) 0 else Common.length - i).sum
    (0 until sign.length - Gram).minBy(commonest)
  }
}
