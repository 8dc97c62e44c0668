package io.sparkconfig.driver

import scala.util.Try

import io.sparkconfig.core.Expression
import org.apache.spark.SparkConf
import org.apache.spark.sparkconfig.SparkAccess

/**
 * Confs of an application that was stopped in this JVM. PySpark passes the confs of a process' first session to its JVM
 * as system properties, where each later session finds them, though they were not set for it.
 */
private[driver] object Leftovers {
  private val Providers = "spark.config.providers"
  private val Shell = "pyspark-shell"
  private var stopped = Map.empty[String, String]

  /** An application ends that was started with these confs. */
  def keep(given: Map[String, String]): Unit = synchronized {
    stopped ++= given.filter { case (key, text) => key.startsWith(Providers) || Expression.mayHold(text) }
  }

  /**
   * What is left in a conf, and not set by `spark-defaults.conf` or `PYSPARK_SUBMIT_ARGS`, which are for all sessions.
   * Whether a session has set the same once more cannot be told.
   */
  def in(conf: SparkConf): Set[String] = synchronized {
    if (stopped.isEmpty || !System.getProperty("sun.java.command", "").endsWith(Shell)) Set.empty
    else {
      val arguments = Option(System.getenv("PYSPARK_SUBMIT_ARGS")).getOrElse("")
      val defaults = Try(SparkAccess.defaults).getOrElse(Map.empty)
      conf.getAll.collect {
        case (key, text)
            if stopped.get(key).contains(text) && System.getProperty(key) == text &&
              !defaults.contains(key) && !arguments.contains(key) =>
          key
      }.toSet
    }
  }

  /** Takes params of providers that this application does not have. */
  def dropProviders(conf: SparkConf, left: Set[String]): Unit = {
    val names = conf.get(Providers, "").split(",").map(_.trim).toSet
    left.filter(_.startsWith(Providers + ".")).foreach { key =>
      if (!names(key.stripPrefix(Providers + ".").takeWhile(_ != '.'))) conf.remove(key)
    }
  }
}
