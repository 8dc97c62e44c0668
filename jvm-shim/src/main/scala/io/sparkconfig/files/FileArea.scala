package io.sparkconfig.files

import java.io.IOException
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.attribute.{FileAttribute, FileTime, PosixFilePermissions}
import java.nio.file.{FileAlreadyExistsException, Files, LinkOption, Path, StandardCopyOption, StandardOpenOption}
import java.util.UUID

import scala.collection.JavaConverters._

import io.sparkconfig.core.{StoredFile, Threads}

/**
 * A directory (0700) with the files (0600) of one application on this machine, which all of its processes share.
 *
 * A file is named after its content, so a new generation never changes what a path holds: who has the path of an
 * old one reads the old one, for `keepMs` after the last process went on from it. A file appears under its name by
 * a rename, whole. Not thread-safe; [[LocalFiles]] lets one thread in at a time.
 */
private[files] final class FileArea(wanted: Path, keepMs: Long) {
  import FileArea._

  private var entered: Option[DirectoryLock] = None
  private var current = Seq.empty[StoredFile]
  private var tidiedAt = System.nanoTime()
  private val atExit = Threads.atExit("sparkconfig-files-cleanup")(LocalFiles.close())

  /** Writes what is not there yet; returns each file's path by its id. */
  def place(files: Seq[StoredFile]): Map[String, String] = {
    val folder =
      try enter()
      catch { case e: IOException => throw refusal(wanted, e) }
    val paths = files.map(file => file.id -> write(folder, file).toString).toMap
    val names = files.map(_.fileName).toSet
    // Their time begins now, however long ago they were written.
    current.filterNot(file => names(file.fileName)).foreach(touch(folder, _))
    current = files
    paths
  }

  private def touch(folder: Path, file: StoredFile): Unit =
    try Files.setLastModifiedTime(folder.resolve(file.fileName), FileTime.fromMillis(System.currentTimeMillis()))
    catch { case _: IOException => () } // it is gone

  /**
   * Once in a while: keeps the files in use young, removes the old ones and what killed processes left.
   *
   * @return why files cannot be kept
   */
  def tidy(): Option[String] = {
    val pause = math.max(1000L, math.min(keepMs, LongestPauseMs))
    if (entered.isEmpty || System.nanoTime() - tidiedAt <= pause * 1000000) None
    else {
      tidiedAt = System.nanoTime()
      val problem =
        try {
          current.foreach(write(folder, _))
          val names = current.map(_.fileName).toSet + DirectoryLock.Name
          val oldest = System.currentTimeMillis() - keepMs
          list(folder).foreach { path =>
            if (!names(path.getFileName.toString) && Files.getLastModifiedTime(path).toMillis < oldest)
              Files.deleteIfExists(path)
          }
          None
        } catch {
          case e @ (_: IOException | _: FilePlacementException) =>
            Some(s"files cannot be kept in $folder: ${e.getMessage}")
        }
      sweep()
      problem
    }
  }

  def close(): Unit = {
    entered.foreach { lock =>
      if (lock.releaseAsLast()) remove(lock.folder)
      lock.close()
    }
    entered = None
    try Runtime.getRuntime.removeShutdownHook(atExit)
    catch { case _: IllegalStateException => () } // it runs already
  }

  private def folder: Path = entered.map(_.folder).getOrElse(wanted)

  private def enter(): Path = {
    if (entered.isEmpty) {
      entered = Some(DirectoryLock.share(own(wanted)))
      try Runtime.getRuntime.addShutdownHook(atExit)
      catch { case _: IllegalStateException => () } // the JVM ends
      sweep()
    }
    folder
  }

  private def write(folder: Path, file: StoredFile): Path = {
    val target = folder.resolve(file.fileName)
    try {
      if (Files.isRegularFile(target, LinkOption.NOFOLLOW_LINKS) && Files.size(target) == file.content.length)
        Files.setLastModifiedTime(target, FileTime.fromMillis(System.currentTimeMillis()))
      else replace(folder.resolve(s".${UUID.randomUUID()}"), target, file.content)
    } catch { case e: IOException => throw refusal(target, e) }
    target
  }

  private def replace(partial: Path, target: Path, content: Array[Byte]): Unit =
    try {
      val channel = FileChannel.open(
        partial,
        java.util.EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
        FileOnly)
      try {
        val bytes = ByteBuffer.wrap(content)
        while (bytes.hasRemaining) channel.write(bytes)
      } finally channel.close()
      Files.move(partial, target, StandardCopyOption.ATOMIC_MOVE)
    } finally Files.deleteIfExists(partial)

  private def refusal(path: Path, e: IOException) = new FilePlacementException(
    s"$path cannot be written: ${reason(e)}. Make room or access there, or choose another place " +
      "with spark.config.files.directory")

  private def reason(e: IOException): String = e match {
    case known: java.nio.file.FileSystemException if known.getReason != null => known.getReason
    case known: java.nio.file.FileSystemException => s"${known.getClass.getSimpleName} ${known.getFile}"
    case other => other.getMessage
  }

  /** Directories of ours without a living process: the last process of their application was killed. */
  private def sweep(): Unit =
    try {
      val mine = owner(folder)
      list(folder.getParent).filter { path =>
        path.getFileName.toString.startsWith(Prefix) && path != folder && isOurs(path, mine)
      }.foreach(path => DirectoryLock.ifAbandoned(path)(remove(path)))
    } catch { case _: IOException => () } // the next time
}

private[files] object FileArea {

  /** The beginning of the directory's name. */
  val Prefix = "sparkconfig-files-"
  private val LongestPauseMs = 60000L
  private val FolderOnly: FileAttribute[_] =
    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))
  private[files] val FileOnly: FileAttribute[_] =
    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))

  /** The directory, made if need be. Another user's, as where driver and executors differ, is left to them. */
  private def own(wanted: Path): Path = {
    val candidates = Seq(wanted, wanted.resolveSibling(s"${wanted.getFileName}-${ProcessHandle.current().pid()}"))
    candidates.find { path =>
      try { Files.createDirectory(path, FolderOnly); true }
      catch { case _: FileAlreadyExistsException => isOurs(path, owner(ProcSelf)) }
    }.getOrElse(throw new IOException("the directory belongs to another user, or others may enter it"))
  }

  private val ProcSelf = java.nio.file.Paths.get("/proc/self")

  private def isOurs(path: Path, user: AnyRef): Boolean =
    Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS) && owner(path) == user &&
      PosixFilePermissions.toString(Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS)) == "rwx------"

  private def owner(path: Path): AnyRef =
    if (path == ProcSelf) Files.getAttribute(path, "unix:uid")
    else Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS)

  private def list(folder: Path): Seq[Path] = {
    val stream = Files.newDirectoryStream(folder)
    try stream.asScala.toList
    finally stream.close()
  }

  /** The lock file goes last: without it the rest would not look abandoned. */
  private def remove(folder: Path): Unit =
    try {
      val (lock, rest) = list(folder).partition(_.getFileName.toString == DirectoryLock.Name)
      (rest ++ lock :+ folder).foreach(Files.deleteIfExists)
    } catch { case _: IOException => () } // another process of this user cleans up as well
}
