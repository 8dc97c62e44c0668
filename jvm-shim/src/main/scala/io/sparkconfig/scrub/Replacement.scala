package io.sparkconfig.scrub

import java.io.{File, FileNotFoundException, IOException, OutputStream}
import java.nio.channels.FileChannel
import java.nio.file.attribute.{FileTime, PosixFileAttributeView, PosixFileAttributes, PosixFilePermissions}
import java.nio.file.{Files, LinkOption, Path => LocalPath, StandardCopyOption, StandardOpenOption}
import java.util.UUID

import scala.util.control.NonFatal

import org.apache.hadoop.fs._
import org.apache.hadoop.fs.permission.FsPermission

/** What takes the place of one log, in one step: readers see the old content or the new one. */
private[scrub] trait Replacement {

  /** Where the new content goes. */
  def out: OutputStream

  /** Put it in place; why not, if that may not be. */
  def commit(): Option[String]

  /** Leave the old content, and nothing else. Harmless after `commit`. */
  def discard(): Unit
}

private[scrub] object Replacement {
  val Changed = "it was changed while it was read; run this again when nobody writes it"
  private val NotInOneStep = "its file system cannot replace a file in one step, so it was left as it is"

  def of(path: Path, systems: FileSystems): Replacement =
    if (isLocal(path)) new OfLocal(new File(path.toUri.getPath).toPath)
    else {
      val system = systems.of(path)
      if (system.getUri.getScheme == "hdfs") new OfHdfs(path, system)
      else new OfObject(path, system)
    }

  /** A file's size and time as one word; another one once somebody has written to it. Empty: it cannot be seen. */
  def seen(path: Path, systems: FileSystems): String =
    try
      if (isLocal(path)) {
        val local = new File(path.toUri.getPath).toPath
        s"${Files.size(local)}@${Files.getLastModifiedTime(local)}"
      } else {
        val status = systems.of(path).getFileStatus(path)
        s"${status.getLen}@${status.getModificationTime}"
      }
    catch { case NonFatal(_) => "" }

  def isLocal(path: Path): Boolean = path.toUri.getScheme == null || path.toUri.getScheme == "file"

  private def partialName(name: String): String = s".$name.${UUID.randomUUID.toString.take(8)}.sparkconfig-scrub"

  /** Not by Hadoop's local file system: that one removes the old file first, and its checksums would go wrong. */
  private class OfLocal(path: LocalPath) extends Replacement {
    private def attributes: PosixFileAttributes =
      Files.readAttributes(path, classOf[PosixFileAttributes], LinkOption.NOFOLLOW_LINKS)
    private val before = attributes
    private val partial = path.resolveSibling(partialName(path.getFileName.toString))
    private val mine = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
    Files.createFile(partial, mine)

    override val out: OutputStream = Files.newOutputStream(partial, StandardOpenOption.WRITE)

    override def commit(): Option[String] = {
      val channel = FileChannel.open(partial, StandardOpenOption.WRITE)
      try channel.force(true)
      finally channel.close()
      val view = Files.getFileAttributeView(partial, classOf[PosixFileAttributeView])
      val made = view.readAttributes()
      if (made.owner != before.owner) view.setOwner(before.owner)
      if (made.group != before.group) view.setGroup(before.group)
      view.setPermissions(before.permissions)
      view.setTimes(before.lastModifiedTime, before.lastAccessTime, null: FileTime)
      val now = attributes
      val same = now.fileKey == before.fileKey && now.size == before.size &&
        now.lastModifiedTime == before.lastModifiedTime
      if (!same) Some(Changed)
      else {
        // Hadoop's checksum of the old content would make the new one unreadable.
        Files.deleteIfExists(path.resolveSibling(s".${path.getFileName}.crc"))
        Files.move(partial, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING)
        None
      }
    }

    override def discard(): Unit = Files.deleteIfExists(partial)
  }

  /** HDFS renames over a file in one step. */
  private class OfHdfs(path: Path, system: FileSystem) extends Replacement {
    private val before = system.getFileStatus(path)
    private val partial = new Path(path.getParent, partialName(path.getName))

    override val out: OutputStream =
      FileSystem.create(system, partial, FsPermission.createImmutable(Integer.parseInt("600", 8).toShort))

    override def commit(): Option[String] = {
      val made = system.getFileStatus(partial)
      if (made.getOwner != before.getOwner || made.getGroup != before.getGroup)
        system.setOwner(partial, before.getOwner, before.getGroup)
      system.setPermission(partial, before.getPermission)
      system.setTimes(partial, before.getModificationTime, before.getAccessTime)
      if (!isSame(before, system.getFileStatus(path))) Some(Changed)
      else {
        FileContext.getFileContext(system.getUri, system.getConf).rename(partial, path, Options.Rename.OVERWRITE)
        None
      }
    }

    override def discard(): Unit = system.delete(partial, false)
  }

  /** An object is its new content when the upload is complete, and before that the old one. */
  private class OfObject(path: Path, system: FileSystem) extends Replacement {
    private val before = system.getFileStatus(path)
    // Asked first: others would lose the old content here, or publish half of the new one when a stream is closed.
    if (!system.hasPathCapability(path, "fs.capability.outputstream.abortable")) throw new IOException(NotInOneStep)
    private val upload = system.create(path, true)
    private var open = true

    /** Closing the compressor must not publish the object: only `commit` may. */
    override val out: OutputStream = new OutputStream {
      override def write(byte: Int): Unit = upload.write(byte)
      override def write(bytes: Array[Byte], from: Int, count: Int): Unit = upload.write(bytes, from, count)
    }

    override def commit(): Option[String] =
      if (isSame(before, system.getFileStatus(path))) {
        upload.close()
        open = false
        None
      } else Some(Changed)

    override def discard(): Unit = if (open) {
      open = false
      upload.abort()
    }
  }

  private def isSame(before: FileStatus, now: FileStatus): Boolean =
    before.getLen == now.getLen && before.getModificationTime == now.getModificationTime

  /** Texts of ours alone: those of file systems may quote what they hold. */
  def reason(error: Throwable): String = error match {
    case own: IOException if own.getMessage == NotInOneStep || own.getMessage == Changed => own.getMessage
    case _: FileNotFoundException | _: java.nio.file.NoSuchFileException => "No such file or directory"
    case _: java.nio.file.AccessDeniedException | _: org.apache.hadoop.security.AccessControlException =>
      "Permission denied"
    case other => s"it could not be read or written (${other.getClass.getSimpleName})"
  }
}
