package io.sparkconfig.core

import java.util.HashMap

import org.apache.hadoop.io.compress.{CodecPool, Decompressor}
import org.apache.spark.sparkconfig.access.Reflect

/**
 * Hadoop's pool of decompressors without anything in it. They keep their buffers, from one user's task to another's:
 * a file that copies from what it has not written shows what was there. LZ4 does in the libraries of Spark 3.5. A codec
 * without a decompressor, such as Parquet's of Zstandard, asks for that of no class.
 */
private[core] final class NoPool extends HashMap[Class[Decompressor], java.util.Set[Decompressor]] {
  override def put(kind: Class[Decompressor], kept: java.util.Set[Decompressor]): java.util.Set[Decompressor] = null
}

private[core] object NoPool {

  /** In this JVM, from here on. */
  def replace(): Unit = {
    val pool = Reflect.field(classOf[CodecPool], "decompressorPool")
    pool.get(null) // until then its class has none
    Reflect.unsafe.putObject(Reflect.unsafe.staticFieldBase(pool), Reflect.unsafe.staticFieldOffset(pool), new NoPool)
  }
}
