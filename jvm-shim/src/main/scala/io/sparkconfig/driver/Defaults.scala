package io.sparkconfig.driver

import io.sparkconfig.core.PolicyStart
import org.apache.spark.{SPARK_VERSION, SparkConf, SparkContext}

/** Puts the operator's defaults in place; Spark reads these confs after plugins start. */
private[driver] object Defaults {
  def put(sc: SparkContext, conf: SparkConf, policy: PolicyStart): Unit = {
    policy.defaults.foreach { case (key, text) =>
      conf.setIfMissing(key, text)
      hadoopKey(key).foreach(name => sc.hadoopConfiguration.set(name, text, "operator"))
    }
    if (policy.evaluatesStatements) {
      OfSharedServers.foreach { case (key, text) => conf.set(key, text) }
      Sizes.foreach { case (key, text) => conf.setIfMissing(key, text) }
    }
  }

  private val OfSharedServers = Seq(
    // A log that a stream has left in a folder names files anywhere, and who may write there may write a log.
    "spark.sql.streaming.fileStreamSink.ignoreMetadata" -> "true",
    // Spark takes addresses in the server's memory from lengths that stand in a file of ORC, and checks none.
    "spark.sql.orc.enableVectorizedReader" -> "false",
    "spark.sql.columnVector.offheap.enabled" -> "false",
    "spark.sql.parquet.enableNestedColumnVectorizedReader" -> "false",
    // 3.5's reader of columns lets a count of Parquet become negative, and writes behind its memory then.
    "spark.sql.parquet.enableVectorizedReader" -> (!SPARK_VERSION.startsWith("3.")).toString,
    // For one user's StackOverflowError, Spark would end the executor with everybody's tasks, or the server.
    "spark.executor.killOnFatalError.depth" -> "0")

  /** Spark keeps the text of each plan for its pages; the operator may keep more of them, or less. */
  private val Sizes = Seq("spark.sql.maxPlanStringLength" -> "100000", "spark.sql.ui.retainedExecutions" -> "100")

  /** Spark copied these into its Hadoop configuration before plugins start. */
  private def hadoopKey(key: String): Option[String] =
    if (key.startsWith("spark.hadoop.")) Some(key.stripPrefix("spark.hadoop."))
    else if (key.startsWith("spark.hive.")) Some(key.stripPrefix("spark."))
    else None
}
