package io.sparkconfig.files

import java.io.IOException
import java.nio.channels.FileChannel
import java.nio.file.attribute.PosixFilePermissions
import java.nio.file.{FileAlreadyExistsException, Files, Path, StandardOpenOption}
import java.util.concurrent.TimeUnit.SECONDS

/**
 * Tells the living from the dead: every process that uses a directory holds a shared lock on a file in it, which
 * the kernel takes away from a process that was killed, also where process ids belong to a container.
 */
private[sparkconfig] final class DirectoryLock private (val folder: Path, channel: FileChannel) {
  private var held = Option(channel.tryLock(0, Long.MaxValue, true))

  /** Gives up the share; true if no other process has one. */
  def releaseAsLast(): Boolean = {
    held.foreach(_.release())
    held = None
    try channel.tryLock() != null
    catch { case _: IOException => false }
  }

  def close(): Unit = channel.close()
}

private[sparkconfig] object DirectoryLock {
  val Name = ".lock"
  private val Patience = SECONDS.toNanos(5)

  /** A share of a directory, which is made again if its last user is just removing it. */
  def share(folder: Path): DirectoryLock = {
    val deadline = System.nanoTime() + Patience
    while (System.nanoTime() < deadline) {
      val lock = attempt(folder)
      if (lock.isDefined) return lock.get
      Thread.sleep(20)
      try Files.createDirectory(
          folder,
          PosixFilePermissions.asFileAttribute(
            PosixFilePermissions.fromString("rwx------")))
      catch { case _: FileAlreadyExistsException => () }
    }
    throw new IOException("its lock cannot be taken")
  }

  /** Acts if no living process has a share; none can get one meanwhile. */
  def ifAbandoned(folder: Path)(action: => Unit): Unit =
    try {
      val channel = FileChannel.open(folder.resolve(Name), StandardOpenOption.WRITE)
      try if (channel.tryLock() != null) action
      finally channel.close()
    } catch {
      case _: java.nio.file.NoSuchFileException => if (isOld(folder)) action
      case _: java.nio.channels.OverlappingFileLockException => ()
      case _: IOException => ()
    }

  private def attempt(folder: Path): Option[DirectoryLock] =
    try {
      val path = folder.resolve(Name)
      val channel = FileChannel.open(
        path,
        java.util.EnumSet.of(
          StandardOpenOption.CREATE,
          StandardOpenOption.READ,
          StandardOpenOption.WRITE),
        FileArea.FileOnly)
      val before = Files.readAttributes(path, classOf[java.nio.file.attribute.BasicFileAttributes]).fileKey()
      val lock = new DirectoryLock(folder, channel)
      // Its last user may have removed it between our two steps: then the lock is on a file without a name.
      if (lock.held.isDefined &&
        Files.readAttributes(path, classOf[java.nio.file.attribute.BasicFileAttributes]).fileKey() == before) Some(lock)
      else { lock.close(); None }
    } catch { case _: java.nio.file.NoSuchFileException => None }

  /** Between its making and its lock a directory has no lock file. */
  private def isOld(folder: Path): Boolean =
    try System.currentTimeMillis() - Files.getLastModifiedTime(folder).toMillis > 60000L
    catch { case _: IOException => false }
}
