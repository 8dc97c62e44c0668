package org.apache.spark.sql.sparkconfig

import org.apache.spark.sql.SparkSession

/** A session's id, which Spark keeps to itself. */
object SessionIds {

  /** The id that is also in Spark's events and in Connect's list of sessions. */
  def of(session: SparkSession): String = Sessions.classic(session).sessionUUID
}
