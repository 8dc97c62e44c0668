package io.sparkconfig.policy.doors

import io.sparkconfig.policy.PolicyClient
import org.apache.spark.SparkContext
import org.apache.spark.sparkconfig.{HadoopGuard, ReferenceHadoopConf}
import org.apache.spark.sql.sparkconfig.PolicyViolationException

/** What an application sets in `sc.hadoopConfiguration`. It reaches every session, and jobs without any SQL. */
private[doors] object HadoopDoor extends Door with HadoopGuard {
  override def name: String = "the Hadoop configuration"

  override def asks: Seq[Asked] = Seq(
    Asked("`sc.hadoopConfiguration`", "before it is set", "not reachable", "before it is set"))

  override def open(sc: SparkContext): Unit = ReferenceHadoopConf.guard(sc, this)

  override def setting(name: String, value: Option[String]): Unit =
    PolicyClient.running.foreach(_.check("hadoop", Map(name -> value)))

  override def clearing(): Unit = if (PolicyClient.running.isDefined) {
    throw new PolicyViolationException(
      "the operator's policy does not allow clearing the Hadoop configuration of an application")
  }
}
