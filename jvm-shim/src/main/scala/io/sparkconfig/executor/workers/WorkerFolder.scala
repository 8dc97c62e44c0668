package io.sparkconfig.executor.workers

import java.io.File
import java.nio.channels.FileChannel
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.attribute.{FileAttribute, PosixFilePermissions}
import java.nio.file.{Files, Path, Paths, StandardOpenOption}
import java.nio.{ByteBuffer, MappedByteBuffer}
import java.security.{MessageDigest, SecureRandom}
import java.util.Base64

import io.sparkconfig.core.Json

/**
 * What Python workers of this process find on disk: a directory that only this user can enter, with the socket, the
 * token that opens it, and the generation as eight bytes to map. Nothing in it is a secret value.
 *
 * Workers find it through a pointer file in Spark's local directories, whose names Spark tells every worker, or
 * by its name, which holds this process's id.
 */
private[workers] final class WorkerFolder private (val folder: Path, pointers: Seq[Path]) {
  import WorkerFolder._

  val socket: Path = folder.resolve("s")
  private val token = newToken()
  private val version = mapped(folder.resolve("version"))
  write(folder.resolve("token"), token)
  pointers.foreach(pointer => write(pointer, describe))

  /** Tells workers, without a system call on either side, that a generation came. */
  def announce(generation: Long): Unit = version.putLong(0, generation)

  def opens(given: String): Boolean = MessageDigest.isEqual(given.getBytes(UTF_8), token.getBytes(UTF_8))

  def remove(): Unit = WorkerFolder.remove(folder, pointers)

  private def describe: String = {
    val node = Json.obj()
    node.put("folder", folder.toString)
    Json.write(node)
  }
}

private[workers] object WorkerFolder {

  /** The name of the pointer in each of Spark's local directories. */
  val Pointer = "sparkconfig-worker.json"

  /** The beginning of the directory's name; the process's id and a random part follow. */
  val Prefix = "sparkconfig-worker-"
  // A Unix socket's path is at most 107 bytes long on Linux.
  private val LongestFolder = 100

  private val ownerOnly: FileAttribute[_] =
    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))
  private val readable: FileAttribute[_] =
    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))

  def create(localDirs: Seq[File]): WorkerFolder = {
    val bases = Seq(System.getProperty("java.io.tmpdir"), "/tmp").map(Paths.get(_))
    val base = bases.find(path => fits(path) && Files.isWritable(path)).getOrElse(bases.last)
    val folder = Files.createTempDirectory(base, s"$Prefix${ProcessHandle.current().pid()}-", ownerOnly)
    val pointers = localDirs.filter(_.isDirectory).map(_.toPath.resolve(Pointer))
    try new WorkerFolder(folder, pointers)
    catch { case e: java.io.IOException => remove(folder, pointers); throw e } // a full disk
  }

  private def remove(folder: Path, pointers: Seq[Path]): Unit =
    (pointers ++ Seq("s", "version", "token").map(folder.resolve(_)) :+ folder).foreach { path =>
      try Files.deleteIfExists(path)
      catch { case _: java.io.IOException => () } // Spark removes its local directories too
    }

  private def fits(base: Path): Boolean =
    base.toString.getBytes(UTF_8).length + Prefix.length + 40 <= LongestFolder

  private def write(path: Path, text: String): Unit = {
    Files.deleteIfExists(path)
    Files.createFile(path, readable)
    Files.write(path, text.getBytes(UTF_8))
  }

  private def mapped(path: Path): MappedByteBuffer = {
    Files.createFile(path, readable)
    val channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)
    try {
      channel.write(ByteBuffer.allocate(java.lang.Long.BYTES), 0)
      channel.map(FileChannel.MapMode.READ_WRITE, 0, java.lang.Long.BYTES.toLong)
    } finally channel.close()
  }

  private def newToken(): String = {
    val bytes = new Array[Byte](32)
    new SecureRandom().nextBytes(bytes)
    Base64.getUrlEncoder.withoutPadding.encodeToString(bytes)
  }
}
