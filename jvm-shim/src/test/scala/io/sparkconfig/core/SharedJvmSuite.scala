package io.sparkconfig.core

import java.io.IOException
import java.nio.ByteBuffer

import munit.FunSuite
import org.apache.avro.Schema
import org.apache.avro.generic.GenericDatumReader
import org.apache.avro.io.DecoderFactory
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.io.compress.{CodecPool, GzipCodec}
import org.apache.parquet.hadoop.codec.ZstandardCodec
import org.xerial.snappy.Snappy

class SharedJvmSuite extends FunSuite {
  private val text = ("a" * 1000).getBytes

  override def beforeAll(): Unit = {
    BoundedSnappy.guard()
    NoPool.replace()
    AvroReaders.plain()
  }

  test("a class that an Avro schema names for a string is not loaded") {
    val named = """{"type": "string", "avro.java.string": "String", "java-class": "java.io.FileInputStream"}"""
    val schema = new Schema.Parser().parse(named)
    val decoder = DecoderFactory.get.binaryDecoder("\u0012/etc/none".getBytes, null)
    assertEquals(new GenericDatumReader[AnyRef](schema).read(null, decoder).toString, "/etc/none")
  }

  test("decompressors are not reused") {
    val codec = new GzipCodec
    codec.setConf(new Configuration(false))
    val first = CodecPool.getDecompressor(codec)
    CodecPool.returnDecompressor(first)
    assert(CodecPool.getDecompressor(codec) ne first)
  }

  test("a codec without a decompressor still works") {
    assertEquals(CodecPool.getDecompressor(new ZstandardCodec), null)
  }

  private def direct(bytes: Array[Byte]): ByteBuffer = {
    val made = ByteBuffer.allocateDirect(bytes.length)
    made.put(bytes).flip()
    made
  }

  test("a block of Snappy that fits its buffer is read") {
    val block = Snappy.compress(text)
    assertEquals(Snappy.uncompress(direct(block), ByteBuffer.allocateDirect(text.length)), text.length)
    assertEquals(Snappy.uncompress(block).toSeq, text.toSeq)
    assertEquals(Snappy.uncompressIntArray(Snappy.compress(Array(1, 2, 3))).toSeq, Seq(1, 2, 3))
  }

  for {
    room <- Seq(0, 1, 999)
    (name, length) <- Seq("true" -> Array(0xe8, 0x07), "of 4 GB" -> Array(0xff, 0xff, 0xff, 0xff, 0x0f))
  } test(s"a block of Snappy is refused in $room bytes, whose length is $name") {
    val block = length.map(_.toByte) ++ Snappy.compress(text).drop(2)
    intercept[IOException](Snappy.uncompress(direct(block), ByteBuffer.allocateDirect(room)))
    intercept[IOException](Snappy.uncompress(block, 0, block.length, new Array[Byte](room), 0))
  }
}
