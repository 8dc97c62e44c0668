package io.sparkconfig.redaction

import io.sparkconfig.core.{RedactionSettings, SparkConfigException}
import io.sparkconfig.redaction.sinks.{EventLogListener, Sinks, Stage}
import org.apache.spark.SparkConf
import org.slf4j.LoggerFactory

/**
 * Hooks the sinks of one process. Event log and UI have their own hooks, through confs that Spark reads after
 * plugins start.
 */
private[sparkconfig] object RedactionSinks {
  private val log = LoggerFactory.getLogger("io.sparkconfig.redaction.RedactionSinks")

  /**
   * Hooks this JVM's log4j2, standard streams and servers, and takes the secrets in clear in confs.
   *
   * @return what could not be hooked, for [[require]] to decide
   * @throws SparkConfigException `spark.config.redaction.keys` is malformed
   */
  def install(conf: SparkConf): Seq[String] = {
    register(conf)
    Sinks.attempt(Stage.Process(conf)) ++ Sinks.attempt(Stage.Driver(conf))
  }

  /**
   * Decides about sinks that are missing, by the settings of the operator if there is one. Who asks for these
   * settings later finds them in the conf.
   *
   * @throws SparkConfigException a sink cannot be hooked, and `spark.config.redaction.require` is not false
   */
  def require(conf: SparkConf, missing: Seq[String], settings: RedactionSettings): Unit = {
    if (conf.getBoolean(EventLogListener.RequireKey, defaultValue = true) != settings.require)
      conf.set(EventLogListener.RequireKey, settings.require.toString)
    if (conf.get(LiteralKeys.Key, "") != settings.keys) {
      conf.set(LiteralKeys.Key, settings.keys)
      register(conf)
    }
    if (missing.nonEmpty) {
      if (settings.require) {
        throw new SparkConfigException(missing.mkString(
          "sparkconfig cannot redact these sinks:\n  - ",
          "\n  - ",
          s"\nSet ${EventLogListener.RequireKey}=false to start without them."))
      }
      missing.foreach(sink => log.warn("not redacted: {}", sink))
    }
    val absent = if (missing.isEmpty) "" else s"; not redacted: ${missing.size} sinks"
    val where = platform.getOrElse("Apache Spark (tested)")
    log.info(s"redacted by value: ${Sinks.names}$absent; platform: $where")
    platform.foreach(name =>
      log.warn(s"redaction was never tested on this platform, $name: docs/redaction.md says what to expect"))
  }

  /** Whose Spark this is, if redaction was never tested there. */
  private def platform: Option[String] =
    sys.env.get("DATABRICKS_RUNTIME_VERSION").map(version => s"Databricks $version")

  /** For executors, where nothing may throw: what cannot be hooked or read is logged. */
  def installQuietly(conf: SparkConf): Unit = {
    try register(conf)
    catch {
      case wrong: SparkConfigException => log.error("literal secrets are not redacted here: {}", wrong.getMessage)
      // Its own message could quote a conf.
      case fault @ (_: RuntimeException | _: StackOverflowError) =>
        log.error("literal secrets are not redacted here: {}", fault.getClass.getName)
    }
    Sinks.attempt(Stage.Process(conf)).foreach(sink => log.error("not redacted on this executor: {}", sink))
  }

  private def register(conf: SparkConf): Unit =
    try LiteralKeys.register(conf)
    catch { case wrong: IllegalArgumentException => throw new SparkConfigException(wrong.getMessage) }
}
