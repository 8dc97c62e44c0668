package io.sparkconfig.redaction.engine

import java.nio.channels.FileChannel
import java.nio.file.attribute.PosixFilePermissions
import java.nio.file.{Files, StandardOpenOption}
import java.nio.{ByteBuffer, ByteOrder, MappedByteBuffer}
import java.util.{ArrayList, HashSet => JHashSet}

/**
 * The registered values in the order in which they came, for the driver's Python, which masks by itself. It fetches
 * those that are new when one of its calls returns, and sees in memory that it shares with this JVM whether there are.
 */
private[sparkconfig] object ForPython {
  private val known = new JHashSet[String]()
  private val inOrder = new ArrayList[String]()
  private var shared: MappedByteBuffer = _
  private var path: java.nio.file.Path = _

  private[engine] def add(values: Iterable[String]): Unit = synchronized {
    values.foreach(value => if (known.add(value)) inOrder.add(value))
    if (shared != null) shared.putLong(0, inOrder.size.toLong)
  }

  /** The values after the first `count`. */
  def since(count: Int): Seq[String] = synchronized {
    if (path != null) { Files.deleteIfExists(path); path = null }
    (math.min(count, inOrder.size) until inOrder.size).map(i => inOrder.get(i))
  }

  /** A file of eight bytes with the number of values, until the first are fetched; empty where none can be made. */
  def counter(): String = synchronized {
    try {
      val owner = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
      path = Files.createTempFile("sparkconfig-", "", owner)
      val channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)
      try {
        channel.write(ByteBuffer.allocate(java.lang.Long.BYTES), 0)
        shared = channel.map(FileChannel.MapMode.READ_WRITE, 0, java.lang.Long.BYTES.toLong)
        shared.order(ByteOrder.nativeOrder()).putLong(0, inOrder.size.toLong)
      } finally channel.close()
      path.toString
    } catch { case _: java.io.IOException => "" }
  }
}
