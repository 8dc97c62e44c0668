package io.sparkconfig.redaction.engine

import java.nio.channels.FileChannel
import java.nio.file.attribute.PosixFilePermissions
import java.nio.file.{Files, StandardOpenOption}
import java.nio.{ByteBuffer, ByteOrder, MappedByteBuffer}
import java.util.{HashMap => JHashMap, TreeMap}

import scala.collection.JavaConverters._

/**
 * The registered values in the order in which they came, for the driver's Python, which masks by itself. It fetches
 * what is new when one of its calls returns, and sees in memory that it shares with this JVM whether there is anything.
 */
private[sparkconfig] object ForPython {

  /**
   * @param count     of all news so far
   * @param forgotten before any of the others came
   */
  final case class News(count: Long, values: Seq[String], forgotten: Seq[String])

  private val numbers = new JHashMap[String, java.lang.Long]()
  private val inOrder = new TreeMap[java.lang.Long, String]()

  /** Until Python has fetched them. */
  private val gone = new TreeMap[java.lang.Long, String]()
  private var count = 0L
  private var fetches = false
  private var shared: MappedByteBuffer = _
  private var path: java.nio.file.Path = _

  private[engine] def add(values: Iterable[String]): Unit = synchronized {
    values.foreach(value => if (!numbers.containsKey(value)) { numbers.put(value, count); put(inOrder, value) })
  }

  private[engine] def forget(values: Iterable[String]): Unit = synchronized {
    values.foreach { value =>
      val number = numbers.remove(value)
      if (number != null) { inOrder.remove(number); if (fetches) put(gone, value) }
    }
  }

  private def put(news: TreeMap[java.lang.Long, String], value: String): Unit = {
    news.put(count, value)
    count += 1
    if (shared != null) shared.putLong(0, count)
  }

  /** What came after the first `known` news. */
  def since(known: Long): News = synchronized {
    if (path != null) { Files.deleteIfExists(path); path = null }
    fetches = true
    gone.headMap(known).clear()
    News(count, inOrder.tailMap(known).values.asScala.toVector, gone.values.asScala.toVector)
  }

  /** A file of eight bytes with the number of news, until the first are fetched; empty where none can be made. */
  def counter(): String = synchronized {
    try {
      val owner = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
      path = Files.createTempFile("sparkconfig-", "", owner)
      val channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)
      try {
        channel.write(ByteBuffer.allocate(java.lang.Long.BYTES), 0)
        shared = channel.map(FileChannel.MapMode.READ_WRITE, 0, java.lang.Long.BYTES.toLong)
        shared.order(ByteOrder.nativeOrder()).putLong(0, count)
      } finally channel.close()
      path.toString
    } catch { case _: java.io.IOException => "" }
  }
}
