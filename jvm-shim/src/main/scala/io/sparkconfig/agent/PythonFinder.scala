package io.sparkconfig.agent

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._

/**
 * Which Python interpreters may hold the sparkconfig package, best first.
 *
 * An operator's word is the only candidate when it is given: the process that holds the secrets must not run in an
 * environment that the job chose.
 */
private[sparkconfig] object PythonFinder {
  private val SymbolicNames = Set("python", "python3")

  /**
   * @param operatorPython the interpreter named by the operator file, if there is such a file
   * @param conf reads a Spark conf
   * @param environment the driver's environment
   * @param directory where a relative path with a slash begins: YARN unpacks `spark.archives` in the driver's working
   *                  directory. The job chooses that directory, so we never look for the operator's interpreter there.
   */
  def candidates(
      operatorPython: Option[String],
      conf: String => Option[String],
      environment: Map[String, String],
      directory: Path = Paths.get("").toAbsolutePath): Seq[String] = operatorPython match {
    case Some(python) => Seq(python)
    case None =>
      val named = conf("spark.config.agent.python").map(_.trim).filter(_.nonEmpty)
      val pythons = if (named.isDefined) named.toSeq
      else (
        conf("spark.pyspark.driver.python").toSeq ++
          conf("spark.pyspark.python") ++
          applicationPython() ++
          environment.get("PYSPARK_DRIVER_PYTHON") ++
          environment.get("PYSPARK_PYTHON") ++
          environment.get("VIRTUAL_ENV").map(_ + "/bin/python") ++
          Seq("python3")
      ).map(_.trim).filter(_.nonEmpty)
      pythons.map { python =>
        if (python.contains("/")) directory.resolve(python.stripPrefix("./")).toString else python
      }.distinct
  }

  /** The words of the command that started this JVM's parent process, which may be the Python application. */
  def parentCommand(): Seq[String] =
    try {
      val pid = ProcessHandle.current().parent().get.pid()
      new String(Files.readAllBytes(Paths.get(s"/proc/$pid/cmdline")), UTF_8).split('\u0000').toSeq
    } catch { case _: Exception => Nil }

  /** The Python of the application: our parent when Python started this JVM, our child under spark-submit. */
  private def applicationPython(): Seq[String] = {
    val self = ProcessHandle.current()
    val parent = Option(self.parent().orElse(null)).toSeq
    val children = self.children().iterator().asScala.toSeq
    (parent ++ children).flatMap(handle => interpreter(handle.pid()))
  }

  /**
   * The interpreter as it was named on the command line. The real path behind `/proc/PID/exe` would lose a virtual
   * environment, which is found by the name.
   */
  private def interpreter(pid: Long): Option[String] =
    try {
      val command = new String(Files.readAllBytes(Paths.get(s"/proc/$pid/cmdline")), UTF_8)
      val first = command.takeWhile(_ != '\u0000')
      val name = Paths.get(first).getFileName.toString
      if (!name.startsWith("python")) None
      else if (first.contains("/")) Some(absolute(first, pid))
      else if (SymbolicNames(name)) Some(name)
      else None
    } catch { case _: Exception => None }

  private def absolute(path: String, pid: Long): String = {
    val given: Path = Paths.get(path)
    if (given.isAbsolute) path
    else Paths.get(s"/proc/$pid/cwd").toRealPath().resolve(given).normalize().toString
  }
}
