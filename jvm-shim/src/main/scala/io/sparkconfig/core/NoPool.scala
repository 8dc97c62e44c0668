package io.sparkconfig.core

import java.util.HashMap

import org.apache.hadoop.io.compress.{CodecPool, Decompressor}
import org.apache.spark.sparkconfig.access.Reflect

/**
 * A pool of Hadoop's decompressors that is always empty. A pooled decompressor keeps its buffer, and in Spark 3.5's LZ4
 * libraries a crafted file can copy old bytes of that buffer, which may be another user's rows. The key is null for a
 * codec without a decompressor, such as Parquet's Zstandard.
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
