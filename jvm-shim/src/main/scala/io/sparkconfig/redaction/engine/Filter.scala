package io.sparkconfig.redaction.engine

import org.apache.spark.unsafe.Platform

/**
 * A set of grams, of up to four characters, or of hashes, as bits: nearly everything that is not in it is told so.
 * @param count how many there will be
 */
private[redaction] final class Filter(count: Long) {
  // Few false alarms, as long as the filter fits the nearest cache, and then the next ones.
  private val logBits =
    math.min(23, math.max(15, math.max(Filter.log(count * 64), math.min(17, Filter.log(count * 256)))))
  val bits = new Array[Long](1 << (logBits - 6))
  val shift: Int = 32 - logBits

  def add(gram: Int): Unit = addHash(gram * Filter.Mix)

  /** @param hash its highest bits count most */
  def addHash(hash: Int): Unit = { val h = hash >>> shift; bits(h >>> 6) |= 1L << h }

  def mayHold(gram: Int): Boolean = mayHoldHash(gram * Filter.Mix)
  def mayHoldHash(hash: Int): Boolean = (Filter.bitOfHash(bits, shift, hash) & 1L) != 0L
}

private object Filter {
  private final val Mix = 0x9e3779b1

  private def log(count: Long): Int = 64 - java.lang.Long.numberOfLeadingZeros(count)

  /** The lowest bit tells if a filter with these bits may hold a gram: for loops, with `bits` in a register. */
  def bit(bits: Array[Long], shift: Int, gram: Int): Long = bitOfHash(bits, shift, gram * Mix)

  private def bitOfHash(bits: Array[Long], shift: Int, hash: Int): Long = {
    val h = hash >>> shift
    // No index is checked: there are as many as bits.
    Platform.getLong(bits, Platform.LONG_ARRAY_OFFSET + ((h >>> 6).toLong << 3)) >>> h
  }
}
