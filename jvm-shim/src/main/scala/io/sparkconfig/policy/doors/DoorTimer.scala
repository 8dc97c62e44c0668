package io.sparkconfig.policy.doors

import org.apache.spark.sql.sparkconfig.Sessions

/** For the benchmark of the doors: a call through Py4J would cost more than what is measured. */
object DoorTimer {
  def nanosPerLook(session: Sessions.Spark, times: Int): Double = {
    val begin = System.nanoTime()
    var done = 0
    while (done < times) { SessionDoor.check(session); done += 1 }
    (System.nanoTime() - begin).toDouble / times
  }
}
