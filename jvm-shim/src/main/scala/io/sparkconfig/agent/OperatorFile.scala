package io.sparkconfig.agent

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}
import java.util.Properties

/**
 * The operator's own configuration, `sparkconfig.conf`. The shim only needs to know whether it exists and which
 * interpreter it names; its contents, owner and permissions are judged by the Python side.
 */
private[sparkconfig] object OperatorFile {
  private val Name = "sparkconfig.conf"

  def locate(environment: Map[String, String]): Option[Path] = {
    val folders = Seq("/etc/spark") ++
      environment.get("SPARK_HOME").map(_ + "/conf") ++
      environment.get("SPARK_CONF_DIR")
    folders.map(folder => Paths.get(folder, Name)).find(path => Files.isRegularFile(path))
  }

  def python(file: Path): Option[String] = {
    val properties = new Properties()
    val reader = Files.newBufferedReader(file, UTF_8)
    try properties.load(reader) finally reader.close()
    Option(properties.getProperty("spark.config.agent.python")).map(_.trim).filter(_.nonEmpty)
  }
}
