package io.sparkconfig.agent

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, LinkOption, Path, Paths}
import java.util.Properties

import io.sparkconfig.SparkConfigException

/**
 * The operator's own configuration, `sparkconfig.conf`. The shim only needs to know whether it exists and which
 * interpreter it names; its contents, owner and permissions are judged by the Python side.
 */
private[sparkconfig] object OperatorFile {
  private val Name = "sparkconfig.conf"
  private val Required = "sparkconfig.required"

  /**
   * `/etc/spark`, else `$SPARK_HOME/conf`, else `$SPARK_CONF_DIR`: the rule of `policy/operator_file.py`.
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

  def python(file: Path): Option[String] = {
    val properties = new Properties()
    try {
      val reader = Files.newBufferedReader(file, UTF_8)
      try properties.load(reader) finally reader.close()
    } catch {
      case e @ (_: java.io.IOException | _: IllegalArgumentException) => throw new SparkConfigException(
        s"the operator's file $file cannot be read (${e.getClass.getSimpleName}); ask the operator to mend it")
    }
    Option(properties.getProperty("spark.config.agent.python")).map(_.trim).filter(_.nonEmpty)
  }

  /** A dangling link, or a file that cannot be read, must not mean that there is no operator. */
  private def present(path: Path): Boolean = Files.exists(path, LinkOption.NOFOLLOW_LINKS)
}
