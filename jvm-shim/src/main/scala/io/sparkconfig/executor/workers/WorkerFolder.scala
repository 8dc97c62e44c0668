package io.sparkconfig.executor.workers

import java.io.IOException
import java.nio.channels.FileChannel
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.attribute.{FileAttribute, FileTime, PosixFilePermissions}
import java.nio.file.{Files, LinkOption, Path, Paths, StandardOpenOption}
import java.nio.{ByteBuffer, MappedByteBuffer}
import java.security.MessageDigest

import scala.collection.JavaConverters._

import io.sparkconfig.core.{Json, Tokens}
import io.sparkconfig.files.DirectoryLock

/**
 * What Python workers of this process find on disk: a directory that only this user can enter, with the socket, and the
 * generation as eight bytes to map. Nothing in it is a secret, and its name tells nothing: where it is, and the token
 * that opens the socket, are in the environment of this process's workers alone.
 */
private[workers] final class WorkerFolder private (val folder: Path, lock: DirectoryLock, token: String) {
  import WorkerFolder._

  val socket: Path = folder.resolve("s")
  private val owner = Files.getOwner(folder)
  private val version = mapped(folder.resolve("version"))

  /** Tells workers, without a system call on either side, that a generation came. */
  def announce(generation: Long): Unit = version.putLong(0, generation)

  /** Whether all of it is on disk. */
  def isThere: Boolean = Names.forall(name => Files.exists(folder.resolve(name)))

  /**
   * The same anew, after a cleaner of temporary files removed it. Workers that have the old generation mapped see that
   * it is none.
   *
   * @throws IOException it cannot be made; a link, or what another user made, may be there by its name
   */
  def again(): WorkerFolder = {
    announce(-1)
    quietly(lock.close())
    if (isDirectoryOf(folder, owner)) WorkerFolder.remove(folder)
    open(Files.createDirectory(folder, ownerOnly), token)
  }

  /** Has the workers that start from now on find this folder. */
  def tell(): Unit = WorkerEnvironment.set(Variable, describe)

  /** Shows that it is in use. */
  def touch(): Unit = {
    val now = FileTime.fromMillis(System.currentTimeMillis())
    (Names.map(folder.resolve(_)) :+ folder).foreach(path => quietly(Files.setLastModifiedTime(path, now)))
  }

  def opens(given: String): Boolean = MessageDigest.isEqual(given.getBytes(UTF_8), token.getBytes(UTF_8))

  def remove(): Unit = {
    quietly(WorkerEnvironment.empty(Variable, describe))
    WorkerFolder.remove(folder)
    quietly(lock.close())
  }

  private def describe: String = {
    val node = Json.obj()
    node.put("folder", folder.toString)
    node.put("token", token)
    Json.write(node)
  }
}

private[workers] object WorkerFolder {

  /** What `sparkconfig.worker` reads. */
  val Variable = "SPARKCONFIG_WORKER"
  // A Unix socket's path is at most 107 bytes long on Linux.
  private val LongestFolder = 100

  private val Names = Seq("s", "version", DirectoryLock.Name)

  private val ownerOnly: FileAttribute[_] =
    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))
  private val readable: FileAttribute[_] =
    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))

  def create(): WorkerFolder = {
    val temporary = Paths.get(System.getProperty("java.io.tmpdir"))
    create(Seq(temporary) ++ shorter(temporary) :+ Paths.get("/tmp"))
  }

  /**
   * A short name of a folder below the working directory. YARN's containers have their temporary files there, below a
   * path that is too long for a socket, and it removes all of that however a container ends.
   */
  private[workers] def shorter(folder: Path, directory: Path = Paths.get("").toAbsolutePath): Option[Path] =
    if (folder.isAbsolute && folder.startsWith(directory))
      Some(Paths.get(s"/proc/${ProcessHandle.current().pid()}/cwd").resolve(directory.relativize(folder)))
    else None

  /**
   * @param bases where it may be, the best first
   * @throws IOException none of them can hold it; says why
   */
  def create(bases: Seq[Path]): WorkerFolder = {
    val base = bases.find(path => fits(path) && Files.isWritable(path)).getOrElse {
      val reasons = bases.distinct.map(path =>
        if (fits(path)) s"$path cannot be written" else s"$path is too long for the path of a Unix socket")
      throw new IOException(
        s"${reasons.mkString(", and ")}: set -Djava.io.tmpdir to a short path that this user may write")
    }
    val made = open(Files.createTempDirectory(base, "", ownerOnly), Tokens.text())
    sweep(base, made.folder)
    made
  }

  private def open(folder: Path, token: String): WorkerFolder =
    try new WorkerFolder(folder, DirectoryLock.share(folder), token)
    catch { case e: IOException => remove(folder); throw e } // a full disk

  private def isDirectoryOf(path: Path, owner: AnyRef): Boolean =
    Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS) && Files.getOwner(path, LinkOption.NOFOLLOW_LINKS) == owner

  /** Takes away what a JVM inherits that a Python worker of another application has started. */
  def forgetInherited(): Unit =
    Option(System.getenv(Variable)).foreach(text => quietly(WorkerEnvironment.empty(Variable, text)))

  /** Removes what processes left that were killed. */
  private def sweep(base: Path, mine: Path): Unit = quietly {
    val all = Files.newDirectoryStream(base, "[0-9]*")
    try all.asScala.filter(path => path != mine && isOfAWorker(path, Files.getOwner(mine))).foreach { path =>
        DirectoryLock.ifAbandoned(path)(remove(path))
      }
    finally all.close()
  }

  private def isOfAWorker(path: Path, owner: AnyRef): Boolean =
    try
      isDirectoryOf(path, owner) &&
        Seq("version", DirectoryLock.Name).forall(name =>
          Files.isRegularFile(path.resolve(name), LinkOption.NOFOLLOW_LINKS))
    catch { case _: IOException => false } // its owner removes it

  /** The lock goes last: without it the rest would not look abandoned. Other people's files stay. */
  private def remove(folder: Path): Unit =
    (Names.map(folder.resolve(_)) :+ folder)
      .foreach(path => quietly(Files.deleteIfExists(path)))

  private def quietly(action: => Any): Unit =
    try action
    catch { case _: IOException | _: IllegalStateException => () }

  // A slash, and a number of 64 bits.
  private def fits(base: Path): Boolean = base.toString.getBytes(UTF_8).length + 21 <= LongestFolder

  private def mapped(path: Path): MappedByteBuffer = {
    Files.createFile(path, readable)
    val channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)
    try {
      channel.write(ByteBuffer.allocate(java.lang.Long.BYTES), 0)
      channel.map(FileChannel.MapMode.READ_WRITE, 0, java.lang.Long.BYTES.toLong)
    } finally channel.close()
  }
}
