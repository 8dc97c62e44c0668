package io.sparkconfig.ui

import org.apache.spark.scheduler.SparkListenerEvent

/**
 * A managed streaming query was started again, since values that it uses have changed.
 *
 * @param query its name, or its id, which its checkpoint keeps over restarts
 * @param changed the options whose values changed
 * @param attempts how often the start was tried
 */
final case class QueryRestartEvent(
    time: Long,
    query: String,
    generation: Long,
    changed: Seq[String],
    seconds: Double,
    attempts: Int)
  extends SparkListenerEvent
