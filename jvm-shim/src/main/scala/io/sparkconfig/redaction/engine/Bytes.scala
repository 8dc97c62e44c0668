package io.sparkconfig.redaction.engine

import java.nio.ByteOrder

import org.apache.spark.unsafe.Platform

/**
 * A text's characters as bytes, chunk by chunk, and several of them at once, the first lowest: without the checks of a
 * buffer, which cost more.
 */
private[redaction] object Bytes {

  /** So many characters are searched at a time, with as many of their neighbours. */
  final val Chunk = 1 << 15
  final val Margin = 32

  /** A buffer begins with as many zeros. */
  final val Lead = 8
  private final val Tail = 16
  final val Ones = 0x0101010101010101L
  final val Highs = 0x80 * Ones
  final val Sevens = 0x7f * Ones

  /** A new buffer, long enough for a chunk with its neighbours and the zeros around them. */
  def buffer(): Array[Byte] = new Array[Byte](Lead + Chunk + 2 * Margin + 4 * Tail)

  /**
   * The low bytes of characters, and zeros behind them: positions stay, which no charset promises; letters and digits
   * are verified later. The first character goes to [[Lead]].
   */
  @annotation.nowarn
  def copy(text: String, from: Int, until: Int, into: Array[Byte]): Unit = {
    text.getBytes(from, until, into, Lead)
    val end = Platform.BYTE_ARRAY_OFFSET + Lead + until - from
    Platform.putLong(into, end, 0L)
    Platform.putLong(into, end + 8L, 0L)
  }

  /** The low bytes of a short text, with zeros behind them. */
  @annotation.nowarn
  def low(text: String): Array[Byte] = {
    val bytes = new Array[Byte](text.length + Tail)
    text.getBytes(0, text.length, bytes, 0)
    bytes
  }

  /** @param at so far from the end that all bytes are in the array: nothing checks it */
  def long(bytes: Array[Byte], at: Int): Long = {
    val found = Platform.getLong(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + at)
    // The JVM's compiler knows this answer; it would not know a field's value.
    if (ByteOrder.nativeOrder eq ByteOrder.BIG_ENDIAN) java.lang.Long.reverseBytes(found) else found
  }

  /** @param at as for [[long]] */
  def int(bytes: Array[Byte], at: Int): Int = {
    val found = Platform.getInt(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + at)
    if (ByteOrder.nativeOrder eq ByteOrder.BIG_ENDIAN) java.lang.Integer.reverseBytes(found) else found
  }

  /** The highest bit of each of eight bytes that may begin an escape, and of others beyond ASCII. */
  def escapes(eight: Long): Long = {
    val low = eight & Sevens
    // The first two are neighbours.
    (low + (0x80 - '%') * Ones) & ~(low + (0x7f - '&') * Ones) | ~((low ^ '\\' * Ones) + Sevens)
  }

  /**
   * All highest bits, unless two dots are side by side, as of three in a row two are in any eight bytes. The one
   * character for them ends with the byte of an ampersand.
   */
  def noDots(eight: Long): Long = {
    val others = ((eight & Sevens) ^ '.' * Ones) + Sevens
    others | others >>> 8 | 0x80L << 56
  }

  /** The highest bit of each of eight bytes that is not an ASCII letter or digit. */
  def others(eight: Long): Long = {
    val low = eight & Sevens
    val digits = (low + (0x80 - '0') * Ones) & ~(low + (0x7f - '9') * Ones)
    val lower = low | 0x20 * Ones
    val letters = (lower + (0x80 - 'a') * Ones) & ~(lower + (0x7f - 'z') * Ones)
    ~((digits | letters) & ~eight) & Highs
  }

  /** Whether all are letters and digits. Of most texts the first look is enough: most signs are before the digits. */
  def areAlnum(eight: Long): Boolean =
    (~((eight & Sevens) + (0x80 - '0') * Ones) & Highs) == 0L && others(eight) == 0L
}
