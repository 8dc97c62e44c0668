package io.sparkconfig.policy

import java.io.File
import java.util.Locale
import java.util.regex.Pattern

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.spark.TaskContext
import org.apache.spark.sql.SparkSession

/**
 * What Hadoop's file systems open on a shared server: the lake, which the policy's `paths` name, and what the server's
 * own confs do. Links are followed first.
 *
 * @param schemes of file systems
 * @param folders of this machine, for all work
 * @param servers folders of this machine for the server's own work, which no session and no task does
 */
private[sparkconfig] final class OpenPlaces(
    schemes: Set[String],
    folders: Seq[OpenPlaces.Folder],
    servers: Seq[OpenPlaces.Folder]) {
  import OpenPlaces._

  /** Whether a file system for this scheme opens anything. */
  def hasScheme(scheme: String): Boolean = schemes("*") || schemes(scheme)

  /**
   * @param file as it was named
   * @param path where its links lead
   * @param above whether a folder above one of these will do, as to see that it is there
   */
  def has(file: File, path: String, above: Boolean): Boolean =
    (folders.exists(_.has(path)) ||
      (above && (folders ++ servers).exists(folder => isIn(folder.path, path))) ||
      StreamFolder.matcher(path).matches ||
      (servers.exists(_.has(path)) && isServersWork)) && (file.getPath == path || stays(file, path))

  /** A link leads nowhere out of the folder that it is in, such as to another user's, or to the server's scratch. */
  private def stays(file: File, path: String): Boolean =
    Iterator.iterate(file.getAbsoluteFile)(_.getParentFile).takeWhile(_ != null).map(_.getCanonicalPath).forall {
      above => (folders ++ servers).flatMap(_.around(above)).forall(isIn(path, _))
    }
}

private[policy] object OpenPlaces {

  /** @param below a pattern for the folders in it that are places of their own, as those of users */
  final case class Folder(path: String, below: String = "") {
    private val each = Pattern.compile(s"(${Pattern.quote(path.stripSuffix("/"))}$below)(/.*)?")

    def has(file: String): Boolean = isIn(file, path)

    /** The one of them that a file is in. */
    def around(file: String): Option[String] = Some(each.matcher(file)).filter(_.matches).map(_.group(1))
  }

  private val Wild = "*?{["

  /** What Spark makes for a stream without a checkpoint. */
  private val StreamFolder =
    Pattern.compile(Pattern.quote(real(System.getProperty("java.io.tmpdir"))) + "/temporary-[0-9a-f-]{36}(/.*)?")

  /** Confs of Spark and Hadoop that name folders in which the work of sessions writes, with Hive's defaults. */
  private val Folders = Map(
    "spark.sql.warehouse.dir" -> "spark-warehouse",
    "spark.sql.streaming.checkpointLocation" -> "",
    "spark.checkpoint.dir" -> "",
    "spark.sql.hive.metastore.jars.path" -> "",
    "hive.metastore.warehouse.dir" -> "",
    "hive.exec.scratchdir" -> "/tmp/hive",
    "hive.exec.local.scratchdir" -> "${java.io.tmpdir}/${user.name}",
    "hadoop.tmp.dir" -> "")

  /** Folders of the server's alone: what all users do is there. */
  private val Servers = Map("spark.eventLog.dir" -> "/tmp/spark-events")

  /** Where file systems of object stores keep what they are about to upload. */
  private val Buffer = "buffer.dir"
  private val Keystores = "hadoop.security.credential.provider.path"
  private val Keystore = raw"jceks://file(/[^,]+)".r

  /** Of their addresses confs are full, and none is a place of a file system. */
  private val Web = Set("http", "https", "ftp")
  private val Scheme = "([a-zA-Z][a-zA-Z0-9+.-]*):/".r

  /**
   * @param paths  the patterns that the policy's `paths` allow
   * @param spark  the application's confs
   * @param hadoop its configuration of Hadoop
   */
  def of(paths: Seq[String], spark: Map[String, String], hadoop: Configuration): OpenPlaces = {
    def texts(keys: Map[String, String]): Seq[String] = keys.toSeq.map { case (key, other) =>
      spark.get(key).orElse(Option(hadoop.get(key))).getOrElse(other)
    }
    val scratch = hadoop.asScala.map(_.getKey).filter(_.endsWith(Buffer)).map(hadoop.get(_)).toList
    val keystores = Keystore.findAllMatchIn(hadoop.get(Keystores, "")).map(_.group(1)).toList
    val confs = (spark.values ++ hadoop.asScala.map(_.getValue)).flatMap(Scheme.findAllMatchIn(_)).map(scheme)
    val lake = paths.filter(path => path == "*" || path.startsWith("file:"))
      .map(path => folder("/" + path.stripPrefix("file:").dropWhile(_ == '/')))
    new OpenPlaces(
      paths.flatMap(path => if (path == "*") Some(path) else Scheme.findFirstMatchIn(path).map(scheme)).toSet ++
        confs.filterNot(Web),
      lake ++ (local(texts(Folders) ++ scratch, hadoop) ++ keystores).map(each => Folder(real(each))),
      local(texts(Servers), hadoop).map(each => Folder(real(each))))
  }

  /** A pattern such as `/lake/a*` reaches what begins like that: the folder is where the names are. */
  private def folder(pattern: String): Folder = {
    val (names, below) = pattern.split("/", -1).toSeq.drop(1).dropRight(1).span(!_.exists(Wild.indexOf(_) >= 0))
    val parts = below.map(part => if (part.exists(Wild.indexOf(_) >= 0)) "/[^/]+" else Pattern.quote(s"/$part"))
    Folder(real(names.mkString("/", "/", "")), parts.mkString)
  }

  private def scheme(found: scala.util.matching.Regex.Match): String = found.group(1).toLowerCase(Locale.ROOT)

  /** The folders of this machine among these lists. */
  private def local(texts: Seq[String], hadoop: Configuration): Seq[String] = {
    val expanding = new Configuration(hadoop)
    texts.flatMap { text =>
      expanding.set("sparkconfig.place", text)
      expanding.get("sparkconfig.place").split(',').map(_.trim).filter(_.nonEmpty)
    }.map(CanonicalPath.of(_, hadoop)).filter(_.startsWith("file:/")).map(_.stripPrefix("file:"))
  }

  private def real(path: String): String = new File(path).getCanonicalPath

  private def isIn(path: String, place: String): Boolean =
    path == place || place == "/" || path.startsWith(place + "/")

  private def isServersWork: Boolean = TaskContext.get() == null && SparkSession.getActiveSession.isEmpty
}
