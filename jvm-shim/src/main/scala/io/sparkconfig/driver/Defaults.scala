package io.sparkconfig.driver

import io.sparkconfig.core.PolicyStart
import org.apache.spark.{SparkConf, SparkContext}

/** Puts the operator's defaults in place; Spark reads these confs after plugins start. */
private[driver] object Defaults {
  def put(sc: SparkContext, conf: SparkConf, policy: PolicyStart): Unit = {
    policy.defaults.foreach { case (key, text) =>
      conf.setIfMissing(key, text)
      hadoopKey(key).foreach(name => sc.hadoopConfiguration.set(name, text, "operator"))
    }
    if (policy.evaluatesStatements) OfSharedServers.foreach { case (key, text) =>
      conf.set(key, text)
      hadoopKey(key).foreach(sc.hadoopConfiguration.set(_, text, "sparkconfig"))
    }
  }

  private val OfSharedServers = Seq(
    // A log that a stream has left in a folder names files anywhere, and who may write there may write a log.
    "spark.sql.streaming.fileStreamSink.ignoreMetadata" -> "true",
    // For one user's StackOverflowError, Spark would end the executor with everybody's tasks, or the server.
    "spark.executor.killOnFatalError.depth" -> "0",
    // Hive writes a user's name into its cookie as it is: `a&cu=b` is b from then on.
    "spark.hadoop.hive.server2.thrift.http.cookie.auth.enabled" -> "false",
    // Spark keeps the text of each plan for its pages, and the states of its parser for ever.
    "spark.sql.maxPlanStringLength" -> "100000",
    "spark.sql.ui.retainedExecutions" -> "100",
    "spark.sql.parser.parserDfaCacheFlushRatio" -> "10")

  /** Spark copied these into its Hadoop configuration before plugins start. */
  private def hadoopKey(key: String): Option[String] =
    if (key.startsWith("spark.hadoop.")) Some(key.stripPrefix("spark.hadoop."))
    else if (key.startsWith("spark.hive.")) Some(key.stripPrefix("spark."))
    else None
}
