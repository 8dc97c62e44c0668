package io.sparkconfig.agent

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, LinkOption, Path, Paths}
import java.util.Properties

import com.sun.security.auth.module.UnixSystem
import io.sparkconfig.core.SparkConfigException

/**
 * The operator's own configuration, `sparkconfig.conf`. The shim only needs to know whether it exists and which
 * interpreter it names; its contents are validated by the Python side, and so are owner and permissions once more, in
 * every respect (`settings/operator_file.py`).
 */
private[sparkconfig] object OperatorFile {
  private val Name = "sparkconfig.conf"
  private val Sticky = Integer.parseInt("1000", 8)
  private val Required = "sparkconfig.required"

  /**
   * `/etc/spark`, else `$SPARK_HOME/conf`, else `$SPARK_CONF_DIR`: the rule of `settings/operator_file.py`.
   *
   * @throws SparkConfigException there is none, although the installer's marker says that there must be one
   */
  def locate(environment: Map[String, String], first: String = "/etc/spark"): Option[Path] = {
    val folders = (Seq(first) ++
      environment.get("SPARK_HOME").filter(_.nonEmpty).map(_ + "/conf") ++
      environment.get("SPARK_CONF_DIR").filter(_.nonEmpty)).map(Paths.get(_))
    val found = folders.map(_.resolve(Name)).find(present)
    if (found.isEmpty) {
      folders.take(2).map(_.resolve(Required)).find(present).foreach { marker =>
        throw new SparkConfigException(
          s"$marker says that this cluster has an operator's file, but ${folders.head.resolve(Name)} is missing; " +
            "ask the operator to restore it")
      }
    }
    found
  }

  /**
   * The interpreter that it names.
   *
   * @throws SparkConfigException it cannot be read, or the job's user could have written it: such a file must not
   *                              even choose the program that validates it
   */
  def python(file: Path): Option[String] = {
    checkTrust(file, new UnixSystem().getUid)
    val properties = new Properties()
    try {
      val reader = Files.newBufferedReader(file, UTF_8)
      try properties.load(reader)
      finally reader.close()
    } catch {
      case e @ (_: IOException | _: IllegalArgumentException) => throw unreadable(file, e)
    }
    Option(properties.getProperty("spark.config.agent.python")).map(_.trim).filter(_.nonEmpty)
  }

  /** Not for root, who can write everything. */
  private def checkTrust(file: Path, user: Long): Unit = if (user != 0) {
    val real =
      try file.toRealPath()
      catch { case e: IOException => throw unreadable(file, e) }
    val above = Iterator.iterate(real.getParent)(_.getParent).takeWhile(_ != null)
    (Iterator(real) ++ above).foreach { path =>
      val mode = Files.getAttribute(path, "unix:mode").asInstanceOf[Int]
      val sticky = Files.isDirectory(path) && (mode & Sticky) != 0
      if (Files.getAttribute(path, "unix:uid").asInstanceOf[Int].toLong == user) throw new SparkConfigException(
        s"$path of the operator's file belongs to the user that runs the job (uid $user), who could change it; " +
          s"let root own it: chown root $path")
      if (!sticky && Files.isWritable(path)) throw new SparkConfigException(
        s"the job's user (uid $user) can write $path, and so change the operator's file; take that permission away")
    }
  }

  private def unreadable(file: Path, e: Throwable) = new SparkConfigException(
    s"the operator's file $file cannot be read (${e.getClass.getSimpleName}); ask the operator to mend it")

  /** A dangling link, or a file that cannot be read, must not mean that there is no operator. */
  private def present(path: Path): Boolean = Files.exists(path, LinkOption.NOFOLLOW_LINKS)
}
