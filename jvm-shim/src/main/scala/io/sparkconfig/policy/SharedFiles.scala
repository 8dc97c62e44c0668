package io.sparkconfig.policy

import java.io.{Closeable, File, FileDescriptor, FileOutputStream, OutputStream}
import java.net.URI
import java.nio.file.{Files, Paths}
import java.util.{Map => JMap}

import scala.collection.JavaConverters._

import io.sparkconfig.core.SparkConfigException
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.security.AccessControlException
import org.apache.spark.sparkconfig.access.Reflect

/** The file systems of a shared server, on driver and executors, whatever made the path that they are asked for. */
private[sparkconfig] object SharedFiles {
  private type Systems = JMap[String, Class[_ <: FileSystem]]

  @volatile private var places: Option[OpenPlaces] = None
  private var before = Map.empty[String, Class[_ <: FileSystem]]

  /** What Hadoop has for configurations that name no class. Only here it needs no class loader to find ours. */
  private def systems: Systems =
    Reflect.field(classOf[FileSystem], "SERVICE_FILE_SYSTEMS").get(null).asInstanceOf[Systems]

  /**
   * Puts ours in the place of Hadoop's, without closing anything yet.
   *
   * @param paths  the patterns that the policy's `paths` allow
   * @param spark  the application's confs
   * @param hadoop its configuration, which names classes, too
   * @return the places, for [[close]]
   */
  def install(paths: Seq[String], spark: Map[String, String], hadoop: Configuration): OpenPlaces = synchronized {
    FileSystem.getFileSystemClass("file", hadoop) // has Hadoop look for all of them
    val open = OpenPlaces.of(paths, spark, hadoop)
    before = systems.asScala.toMap
    before.keys.foreach { scheme =>
      if (scheme == "file") systems.put(scheme, classOf[SharedLocalFileSystem])
      else if (!open.hasScheme(scheme)) systems.put(scheme, classOf[RefusedFileSystem])
    }
    hadoop.set("fs.AbstractFileSystem.file.impl", classOf[SharedLocalFs].getName)
    if (Option(hadoop.get(PlainNames.Key)).exists(_ != classOf[PlainNames].getName)) throw new SparkConfigException(
      s"This server is shared, and ${PlainNames.Key} names a filter of files: remove that setting.")
    hadoop.setClass(PlainNames.Key, classOf[PlainNames], classOf[PathFilter])
    hadoop.asScala.map(_.getKey).collect { case Impl(scheme) if !open.hasScheme(scheme) => scheme }.toList.foreach {
      scheme => hadoop.set(s"fs.$scheme.impl", classOf[RefusedFileSystem].getName)
    }
    forget(hadoop)
    if (!disk(hadoop).isInstanceOf[SharedLocalFileSystem]) throw new SparkConfigException(
      "This server is shared, and fs.file.impl, or a cache of Hadoop's, keeps its own file system for the server's " +
        "disk: remove that setting.")
    open
  }

  /** From here on only these places are open. */
  def close(open: OpenPlaces): Unit = places = Some(open)

  def release(): Unit = synchronized {
    places = None
    before.foreach { case (scheme, known) => systems.put(scheme, known) }
  }

  /** One that Hadoop made earlier, and hands out whatever a configuration says. */
  private def forget(hadoop: Configuration): Unit = disk(hadoop) match {
    case _: SharedLocalFileSystem => ()
    case old => old.close()
  }

  private def disk(hadoop: Configuration): FileSystem = FileSystem.get(URI.create("file:///"), hadoop)

  private val Impl = raw"fs\.([a-z0-9]+)\.impl".r

  private[policy] def check(file: File, above: Boolean): File = {
    if (!places.forall(_.has(file, file.getCanonicalPath, above))) refuse(s"file:$file")
    file
  }

  /** The same of a file that is open: since it was looked at, a link may have come into its way. */
  private[policy] def checkOpen(file: File, opened: FileDescriptor): Unit = {
    val link = Paths.get("/proc/self/fd", descriptor.get(opened).toString)
    if (Files.isSymbolicLink(link) && !places.forall(_.has(file, Files.readSymbolicLink(link).toString, above = false)))
      refuse(s"file:$file")
  }

  private lazy val descriptor = Reflect.field(classOf[FileDescriptor], "fd")

  private[policy] def refuse(path: String): Nothing = throw new AccessControlException(
    s"the operator's policy does not allow this: $path is not of the lake that its list paths names, and none of the " +
      "server's own confs names it for work of users")
}

/** The server's disk. */
private[sparkconfig] final class SharedLocalFileSystem extends LocalFileSystem(new SharedRawFileSystem)

/** Each way to a file goes by `pathToFile`; those that change or list a folder may not do so above the lake. */
private[policy] final class SharedRawFileSystem extends RawLocalFileSystem {
  override def pathToFile(path: Path): File = SharedFiles.check(super.pathToFile(path), above = true)

  private def within(path: Path): Unit = SharedFiles.check(super.pathToFile(path), above = false): Unit

  /** Shows links that lead elsewhere, too: who follows one is refused. */
  private val plain = new RawLocalFileSystem

  override def initialize(uri: URI, conf: Configuration): Unit = {
    super.initialize(uri, conf)
    plain.initialize(uri, conf)
  }

  override def listStatus(path: Path): Array[FileStatus] = { within(path); plain.listStatus(makeQualified(path)) }

  override def open(path: Path, size: Int): FSDataInputStream = {
    // Who opens a pipe waits for whoever writes into it, and nothing ends that.
    val file = pathToFile(path)
    if (file.exists && !file.isFile && !file.isDirectory)
      throw new AccessControlException(
        s"the operator's policy does not allow this: $path is a pipe or device, not a file")
    val stream = super.open(path, size)
    opened(path, stream, stream.getFileDescriptor)
  }

  override protected def createOutputStreamWithMode(path: Path, append: Boolean, mode: FsPermission): OutputStream = {
    within(path)
    written(path, append, super.createOutputStreamWithMode(path, true, mode))
  }

  override protected def createOutputStream(path: Path, append: Boolean): OutputStream = {
    within(path)
    written(path, append, super.createOutputStream(path, true))
  }

  /** A file is emptied when it is known which one is open. */
  private def written(path: Path, append: Boolean, stream: OutputStream): OutputStream = {
    val file = Reflect.get(stream, "fos").asInstanceOf[FileOutputStream]
    opened(path, stream, file.getFD)
    if (!append) file.getChannel.truncate(0)
    stream
  }

  /** A link that comes into a folder's way meanwhile is seen afterwards: nothing more is written there. */
  override def mkOneDirWithMode(path: Path, folder: File, mode: FsPermission): Boolean = {
    val isMade = super.mkOneDirWithMode(path, folder, mode)
    pathToFile(path)
    isMade
  }

  private def opened[T <: Closeable](path: Path, stream: T, descriptor: FileDescriptor): T =
    try { SharedFiles.checkOpen(super.pathToFile(path), descriptor); stream }
    catch { case e: AccessControlException => stream.close(); throw e }

  override def rename(from: Path, to: Path): Boolean = {
    within(from)
    within(to)
    val isDone = super.rename(from, to)
    within(to)
    isDone
  }

  override def delete(path: Path, recursive: Boolean): Boolean = { within(path); super.delete(path, recursive) }

  override def setOwner(path: Path, user: String, group: String): Unit = {
    within(path)
    super.setOwner(path, user, group)
  }

  override def setPermission(path: Path, mode: FsPermission): Unit = { within(path); super.setPermission(path, mode) }

  override def setTimes(path: Path, changed: Long, read: Long): Unit = {
    within(path)
    super.setTimes(path, changed, read)
  }

  override def createSymlink(target: Path, link: Path, parent: Boolean): Unit = SharedFiles.refuse(link.toString)

  override def getLinkTarget(path: Path): Path = { within(path); super.getLinkTarget(path) }

  override def getFileLinkStatus(path: Path): FileStatus = { pathToFile(path); super.getFileLinkStatus(path) }
}

/** The same for what asks for Hadoop's newer interface, such as checkpoints of streams. */
private[sparkconfig] final class SharedLocalFs(uri: URI, conf: Configuration) extends ChecksumFs(new SharedRawFs(conf))

private[policy] final class SharedRawFs(conf: Configuration)
  extends DelegateToFileSystem(FsConstants.LOCAL_FS_URI, new SharedRawFileSystem, conf, "file", false) {
  override def getUriDefaultPort: Int = -1
  override def isValidName(name: String): Boolean = true
}

/** Of a scheme that no path of the policy and no conf of the server has: it is there, lest Hive ask `java.net.URL`. */
private[sparkconfig] final class RefusedFileSystem extends RawLocalFileSystem {
  private var uri: URI = super.getUri

  override def initialize(given: URI, conf: Configuration): Unit = { super.initialize(given, conf); uri = given }
  override def getUri: URI = uri
  override def pathToFile(path: Path): File = SharedFiles.refuse(path.toString)
}

/**
 * Refuses files with a pattern for a name. Spark and Hadoop list a folder, and some of what infers a schema then takes
 * each listed path for a pattern: `/lake/ana/{a,../ben/b}` would have another user's file read, on any file system.
 */
private[sparkconfig] final class PlainNames extends PathFilter with Serializable {
  override def accept(path: Path): Boolean = {
    if (path.toUri.getPath.exists("{[*?\\".indexOf(_) >= 0)) throw new AccessControlException(
      s"the operator's policy does not allow this: rename $path: its name is a pattern, which stands for other files")
    true
  }
}

private[policy] object PlainNames {

  /** Hadoop's conf for a class that is asked about each listed file; Spark's lists of files ask it, too. */
  val Key = "mapreduce.input.pathFilter.class"
}
