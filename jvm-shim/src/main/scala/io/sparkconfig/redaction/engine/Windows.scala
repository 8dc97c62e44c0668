package io.sparkconfig.redaction.engine

import java.nio.{ByteBuffer, ByteOrder}

/**
 * A bit filter of grams, and a hash table from windows to the patterns that are anchored there.
 * @param window as long as the run of letters and digits that every pattern has: one of its grams begins at one of
 *               each `step` positions
 * @param count how many patterns there will be
 * @param capacity above the highest number of a pattern
 */
private[redaction] final class Windows(gram: Int, val window: Int, count: Int, capacity: Int) {
  val step: Int = window - gram + 1
  private val size = Integer.highestOneBit(math.max(16, count * 2)) * 2
  private val heads = Array.fill(size)(-1)
  private val next = Array.fill(capacity)(-1)
  private val keys = new Array[Long](capacity)
  // A false alarm costs more than many positions: one of 64 bits is set at most, as long as the filter fits a cache.
  private val logBits = math.min(24, math.max(15, 64 - java.lang.Long.numberOfLeadingZeros(count.toLong * step * 64)))
  val bits = new Array[Long](1 << (logBits - 6))
  val shift: Int = 64 - logBits
  val used: Boolean = count > 0

  def add(text: String, offset: Int, pattern: Int): Unit = {
    val bytes = ByteBuffer.wrap(text.substring(offset, offset + window).getBytes("ISO-8859-1").padTo(32, 0.toByte))
      .order(ByteOrder.LITTLE_ENDIAN)
    var j = 0
    while (j < step) {
      val written =
        if (gram == 2) bytes.getShort(j) & Index.Gram2
        else if (gram == 4) bytes.getInt(j) & Index.Gram4
        else bytes.getLong(j) & Index.Gram6
      val h = (written * Index.Mix) >>> shift
      bits((h >>> 6).toInt) |= 1L << h
      j += 1
    }
    val hash =
      if (gram == 2) (bytes.getShort(0) & Index.Gram2) * Index.Mix
      else if (gram == 4) (bytes.getInt(0) & Index.Gram4) * Index.Mix
      else Index.hash9(bytes.getLong(0), bytes.get(8))
    keys(pattern) = hash
    next(pattern) = heads(head(hash))
    heads(head(hash)) = pattern
  }

  private def head(key: Long): Int = (key >>> 32).toInt & (size - 1)

  /** The first pattern whose window hashes to `key`, or -1. */
  def first(key: Long): Int = skip(heads(head(key)), key)

  /** The next pattern with the same window as pattern `i`, or -1. */
  def following(i: Int): Int = skip(next(i), keys(i))

  private def skip(from: Int, key: Long): Int = {
    var i = from
    while (i >= 0 && keys(i) != key) i = next(i)
    i
  }
}
