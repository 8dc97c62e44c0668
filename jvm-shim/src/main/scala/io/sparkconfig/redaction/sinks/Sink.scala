package io.sparkconfig.redaction.sinks

import org.apache.spark.SparkConf
import org.apache.spark.sql.SparkSessionExtensions

/**
 * A place where text leaves a process. Each is in its own file and in [[Sinks.all]]; the hooks and the line that
 * the start logs follow from that list.
 */
private[redaction] trait Sink {

  /** As logs and errors call it. */
  def name: String

  /**
   * Puts the redactor in front of the sink, at the stages for which it is defined; again does nothing.
   *
   * @throws IllegalStateException if it cannot; the message says why
   */
  def install: PartialFunction[Stage, Unit]
}

/** The moments at which sinks are hooked. */
private[sparkconfig] sealed trait Stage

private[sparkconfig] object Stage {

  /** The plugin starts, on the driver and on each executor. */
  final case class Process(conf: SparkConf) extends Stage

  /** The plugin starts on the driver. */
  final case class Driver(conf: SparkConf) extends Stage

  /** All checks passed: from here on Spark reads the confs in which it looks for classes of others. */
  final case class Confs(conf: SparkConf) extends Stage

  /** A session starts. */
  final case class Session(extensions: SparkSessionExtensions) extends Stage
}
