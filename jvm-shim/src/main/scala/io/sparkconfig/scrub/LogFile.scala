package io.sparkconfig.scrub

import java.io.{BufferedInputStream, BufferedOutputStream, InputStream, OutputStream}
import java.util.Locale
import java.util.zip.{GZIPInputStream, GZIPOutputStream}

import org.apache.hadoop.fs.Path
import org.apache.spark.io._
import org.apache.spark.{SparkConf, SparkEnv}

/** A log by its address, and how Spark's own codecs read and write it, by the end of its name. */
private[scrub] object LogFile {
  private val Buffer = 1 << 16

  def reading(path: Path, raw: InputStream): InputStream = {
    val buffered = new BufferedInputStream(raw, Buffer)
    suffix(path) match {
      case "gz" => new GZIPInputStream(buffered, Buffer)
      case name => codec(name).fold[InputStream](buffered)(_.compressedInputStream(buffered))
    }
  }

  def writing(path: Path, raw: OutputStream): OutputStream = {
    val buffered = new BufferedOutputStream(raw, Buffer)
    suffix(path) match {
      case "gz" => new GZIPOutputStream(buffered, Buffer)
      case name => codec(name).fold[OutputStream](buffered)(_.compressedOutputStream(buffered))
    }
  }

  private def suffix(path: Path): String =
    path.getName.substring(path.getName.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT)

  private def codec(suffix: String): Option[CompressionCodec] = {
    def conf: SparkConf = SparkEnv.get.conf
    suffix match {
      case "zstd" | "zst" => Some(new ZStdCompressionCodec(conf))
      case "lz4" => Some(new LZ4CompressionCodec(conf))
      case "snappy" => Some(new SnappyCompressionCodec(conf))
      case "lzf" => Some(new LZFCompressionCodec(conf))
      case _ => None
    }
  }
}
