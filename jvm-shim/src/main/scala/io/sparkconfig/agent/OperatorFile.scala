package io.sparkconfig.agent

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, InvalidPathException, LinkOption, Path, Paths}
import java.util.Properties

import com.sun.security.auth.module.UnixSystem
import io.sparkconfig.core.SparkConfigException

/**
 * The operator's own configuration, `sparkconfig.conf`. The shim only needs to know whether it exists and which
 * interpreter and variables it names; the Python side validates its contents, and owner and permissions once more, in
 * every respect (`settings/operator_file.py`).
 */
private[sparkconfig] object OperatorFile {
  private val Name = "sparkconfig.conf"
  private val Required = "sparkconfig.required"
  private val PythonKey = "spark.config.agent.python"
  private val VariablesKey = "spark.config.agent.variables"

  /** What a process that holds the operator's secrets may keep of the environment that the job chose, in any case. */
  private val Harmless = Seq("LANG", "LC_ALL", "TZ", "TMPDIR")

  /** Variables that choose code: no list of an operator's lets the job's through. */
  private val Dangerous = Seq("PATH", "HOME", "LD_*", "DYLD_*", "PYTHON*", "GCONV_PATH", "OPENSSL_*", "SPARK_*")

  /** How the side process starts beside an operator's file: its interpreter, and the driver's variables that it has. */
  final case class Launch(python: String, variables: Seq[String]) {
    def keeps(name: String): Boolean =
      variables.exists(matches(_, name)) && !Dangerous.exists(matches(_, name))
  }

  private def matches(pattern: String, name: String): Boolean =
    if (pattern.endsWith("*")) name.startsWith(pattern.dropRight(1)) else name == pattern

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
   * The interpreter and the variables that it names. The interpreter runs with the operator's secrets, so it is never
   * looked for on `PATH`, which the job sets, and the job's user must not be able to write or replace it.
   *
   * @throws SparkConfigException it names none, or not by an absolute path; the file cannot be read; the job's user
   *                              could have written the file, the interpreter, or what that reads before it checks
   *                              its packages. Such a file must not even choose the program that validates it
   */
  def launch(file: Path): Launch = {
    val user = new UnixSystem().getUid
    checkTrust(file, user, "the operator's file")
    val properties = new Properties()
    try {
      val reader = Files.newBufferedReader(file, UTF_8)
      try properties.load(reader)
      finally reader.close()
    } catch {
      case e @ (_: IOException | _: IllegalArgumentException) => throw unreadable(file, "the operator's file", e)
    }
    val python =
      Option(properties.getProperty(PythonKey)).map(_.trim).filter(_.nonEmpty).getOrElse(throw new SparkConfigException(
        s"the operator's file $file names no interpreter, and the job must not choose the one that holds secrets; " +
          s"add $PythonKey=/opt/sparkconfig/bin/python, the absolute path of a Python that has this package"))
    if (!python.startsWith("/")) throw new SparkConfigException(
      s"$PythonKey=$python in the operator's file $file: the interpreter must be an absolute path, since jobs set " +
        "PATH and the working directory")
    checkInterpreter(Paths.get(python), user, s"the interpreter of $PythonKey")
    val named = properties.getProperty(VariablesKey, "").split(",").map(_.trim).filter(_.nonEmpty)
    Launch(python, Harmless ++ named)
  }

  private def checkInterpreter(python: Path, user: Long, what: String): Unit = {
    val files =
      try Interpreter.files(python)
      catch { case e @ (_: IOException | _: InvalidPathException) => throw unreadable(python, what, e) }
    files.foreach(checkTrust(_, user, what))
  }

  private def checkTrust(path: Path, user: Long, what: String): Unit =
    try Trust.problem(path, user, what).foreach(text => throw new SparkConfigException(text))
    catch { case e: IOException => throw unreadable(path, what, e) }

  private def unreadable(path: Path, what: String, e: Throwable) = new SparkConfigException(
    s"$what $path cannot be read (${e.getClass.getSimpleName}); ask the operator to correct this")

  /** A dangling link, or a file that cannot be read, must not mean that there is no operator. */
  private def present(path: Path): Boolean = Files.exists(path, LinkOption.NOFOLLOW_LINKS)
}
