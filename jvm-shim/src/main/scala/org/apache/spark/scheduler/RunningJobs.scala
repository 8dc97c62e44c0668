package org.apache.spark.scheduler

import scala.util.Try

import org.apache.spark.SparkContext

/** The jobs that are running, whose properties Spark hands to each of their tasks. */
object RunningJobs {
  private val Tries = 5

  /** Tasks that are launched from now on have the property. Best effort: Spark may be changing the list of jobs. */
  def setProperty(sc: SparkContext, key: String, value: String): Unit =
    Option(sc.dagScheduler).foreach { scheduler =>
      Iterator.continually(Try {
        scheduler.jobIdToActiveJob.values.foreach(job => Option(job.properties).foreach(_.setProperty(key, value)))
      }).take(Tries).find(_.isSuccess)
    }
}
