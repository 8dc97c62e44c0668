package io.sparkconfig.agent

import java.lang.invoke.VarHandle
import java.nio.channels.FileChannel
import java.nio.file.attribute.PosixFilePermissions
import java.nio.file.{Files, Path, StandardOpenOption}
import java.nio.{ByteBuffer, ByteOrder}

import org.slf4j.LoggerFactory

/**
 * How many changes a side process has seen that nobody asked for, in memory that it shares with this JVM: reading it
 * takes no call. Python writes it (`sparkconfig.resolution.freshness.ChangeCounter`).
 */
private[sparkconfig] final class ChangeCounter private (val path: Path, memory: ByteBuffer) {

  def count: Long = {
    VarHandle.fullFence()
    memory.getLong(0)
  }

  /** Takes its name away once the process has opened it. */
  def unlink(): Unit =
    try Files.deleteIfExists(path)
    catch { case _: java.io.IOException => () }
}

private[sparkconfig] object ChangeCounter {
  private val log = LoggerFactory.getLogger(classOf[ChangeCounter])

  /** None where no file can be made: then each use asks. */
  def create(): Option[ChangeCounter] =
    try {
      val owner = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
      val path = Files.createTempFile("sparkconfig-", "", owner)
      val channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)
      try {
        // Written, not only made longer: a disk that is full later must not end this JVM.
        channel.write(ByteBuffer.allocate(java.lang.Long.BYTES), 0)
        val memory = channel.map(FileChannel.MapMode.READ_ONLY, 0, java.lang.Long.BYTES.toLong)
        Some(new ChangeCounter(path, memory.order(ByteOrder.nativeOrder())))
      } catch { case e: java.io.IOException => Files.deleteIfExists(path); throw e }
      finally channel.close()
    } catch {
      case e: java.io.IOException =>
        log.info("no file can be created, so each use of a reference asks the side process: {}", e.getClass.getName)
        None
    }
}
