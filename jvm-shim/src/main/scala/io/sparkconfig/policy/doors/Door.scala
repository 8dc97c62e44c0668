package io.sparkconfig.policy.doors

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.{SparkConf, SparkContext}

/**
 * A place where a job can set something, and which asks the policies first. Each is in its own file and in
 * [[Doors.all]]; the rules of sessions, the line that the start logs and the table of docs/policies.md follow from that
 * list.
 */
private[doors] trait Door {

  /** As logs call it. */
  def name: String

  /** What is asked about: rows of the table in docs/policies.md, which tools/docs/generate.py reads from the source. */
  def asks: Seq[Asked]

  /** Whether it stands without policies, too. */
  def always: Boolean = false

  /** All checks passed: sets confs that Spark has not read yet. Policies begin after that, so every door is called. */
  def prepare(conf: SparkConf): Unit = ()

  /** The application starts. */
  def open(sc: SparkContext): Unit = ()

  /** A session starts: puts the door's rules among its rules. */
  def open(session: SparkSessionExtensions): Unit = ()
}

/**
 * @param what the place, for users
 * @param spark4 when it asks on Spark 4
 * @param connect when it asks about what a client of Spark Connect does
 * @param spark35 when it asks on Spark 3.5
 */
private[doors] final case class Asked(what: String, spark4: String, connect: String, spark35: String)
