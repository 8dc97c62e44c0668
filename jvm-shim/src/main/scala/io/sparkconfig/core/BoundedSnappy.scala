package io.sparkconfig.core

import java.io.IOException
import java.lang.reflect.Array
import java.nio.ByteBuffer

import org.apache.spark.sparkconfig.access.Reflect
import org.xerial.snappy.{Snappy, SnappyNative}

/**
 * Snappy's native code trusts the length in the compressed block and writes that many bytes, whatever the size of its
 * buffer. Hadoop and Parquet pass it bytes straight from a file, so the length is checked here first.
 */
private[core] final class BoundedSnappy extends SnappyNative {
  override def rawUncompress(from: ByteBuffer, at: Int, length: Int, to: ByteBuffer, toAt: Int): Int = {
    fit(uncompressedLength(from, at, length), to.capacity - toAt)
    super.rawUncompress(from, at, length, to, toAt)
  }

  override def rawUncompress(from: AnyRef, at: Int, length: Int, to: AnyRef, toAt: Int): Int = {
    fit(uncompressedLength(from, at, length), BoundedSnappy.bytes(to) - toAt)
    super.rawUncompress(from, at, length, to, toAt)
  }

  /** More than 2 GB is a negative number here. */
  private def fit(bytes: Int, room: Long): Unit =
    if (bytes < 0 || bytes > room) throw new IOException("a Snappy block is longer than the buffer it is read into")
}

private[core] object BoundedSnappy {

  /** In this JVM, from here on. Where Snappy cannot be loaded, nothing can use it either. */
  def guard(): Unit =
    try Reflect.field(classOf[Snappy], "impl").set(null, new BoundedSnappy)
    catch { case _: LinkageError => () }

  private def bytes(array: AnyRef): Long = Array.getLength(array).toLong * (array match {
    case _: scala.Array[Byte] => 1
    case _: scala.Array[Short] | _: scala.Array[Char] => 2
    case _: scala.Array[Int] | _: scala.Array[Float] => 4
    case _ => 8
  })
}
