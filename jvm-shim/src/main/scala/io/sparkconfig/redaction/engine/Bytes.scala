package io.sparkconfig.redaction.engine

import java.nio.ByteOrder

import org.apache.spark.unsafe.Platform

/**
 * A text's characters as bytes, chunk by chunk, and several of them at once, the first lowest: without the checks of a
 * buffer, which cost more.
 */
private[redaction] object Bytes {

  /** So many characters are searched at a time, with as many of their neighbours. */
  val Chunk: Int = 1 << 15
  val Margin = 16

  private val buffers = new ThreadLocal[Array[Byte]] {
    override def initialValue(): Array[Byte] = new Array[Byte](Chunk + 4 * Margin)
  }

  /** This thread's, long enough for a chunk with its neighbours and the zeros behind them. */
  def buffer(): Array[Byte] = buffers.get()

  /**
   * The low bytes of characters, and zeros behind them: positions stay, which no charset promises; letters and digits
   * are verified later.
   */
  @annotation.nowarn
  def copy(text: String, from: Int, until: Int, into: Array[Byte]): Unit = {
    text.getBytes(from, until, into, 0)
    java.util.Arrays.fill(into, until - from, until - from + Margin, 0.toByte)
  }

  private val swapped = ByteOrder.nativeOrder == ByteOrder.BIG_ENDIAN

  /** @param at so far from the end that all bytes are in the array: nothing checks it */
  def long(bytes: Array[Byte], at: Int): Long = {
    val found = Platform.getLong(bytes, Platform.BYTE_ARRAY_OFFSET + at)
    if (swapped) java.lang.Long.reverseBytes(found) else found
  }

  /** @param at as for [[long]] */
  def int(bytes: Array[Byte], at: Int): Int = {
    val found = Platform.getInt(bytes, Platform.BYTE_ARRAY_OFFSET + at)
    if (swapped) java.lang.Integer.reverseBytes(found) else found
  }

  /** @param at as for [[long]] */
  def short(bytes: Array[Byte], at: Int): Short = {
    val found = Platform.getShort(bytes, Platform.BYTE_ARRAY_OFFSET + at)
    if (swapped) java.lang.Short.reverseBytes(found) else found
  }
}
