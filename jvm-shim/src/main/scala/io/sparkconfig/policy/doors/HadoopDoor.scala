package io.sparkconfig.policy.doors

import io.sparkconfig.policy.PolicyDoors
import org.apache.spark.sparkconfig.HadoopGuard
import org.apache.spark.sql.sparkconfig.PolicyViolationException

/** What an application sets in `sc.hadoopConfiguration`. It reaches every session, and jobs without any SQL. */
private[sparkconfig] object HadoopDoor extends HadoopGuard {
  override def setting(name: String, value: Option[String]): Unit =
    PolicyDoors.running.foreach(_.check("hadoop", Map(name -> value)))

  override def clearing(): Unit = if (PolicyDoors.running.isDefined) {
    throw new PolicyViolationException(
      "the operator's policy does not allow to clear the Hadoop configuration of an application")
  }
}
