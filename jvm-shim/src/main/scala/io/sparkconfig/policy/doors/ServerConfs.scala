package io.sparkconfig.policy.doors

import scala.collection.JavaConverters._

/**
 * What a Thrift server was started with beside Spark's confs: Hive's settings from `--hiveconf` or `-D`. The server
 * sets them again in each session that it opens, so they look as if the session's user had asked for them.
 */
private[sparkconfig] object ServerConfs {
  private val Server = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"

  /**
   * Reads them; the server keeps them as system properties of its JVM. Empty in every other application: whoever
   * starts `spark-sql` chooses its `--hiveconf`. Keys of Spark are left out: they are in the application's confs.
   */
  def read(): Map[String, String] =
    if (!System.getProperty("sun.java.command", "").split(' ').contains(Server)) Map.empty
    else System.getProperties.asScala.filterNot { case (key, _) => key.startsWith("spark.") }.toMap
}
