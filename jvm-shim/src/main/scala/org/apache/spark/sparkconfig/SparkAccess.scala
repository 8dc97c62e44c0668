package org.apache.spark.sparkconfig

import org.apache.hadoop.conf.Configuration
import org.apache.spark.deploy.SparkHadoopUtil
import org.apache.spark.internal.config.ConfigEntry
import org.apache.spark.scheduler.SparkListenerEvent
import org.apache.spark.util.{ShutdownHookManager, Utils}
import org.apache.spark.{SparkConf, SparkContext}

/** The few private members of Spark that the shim reads; everything else uses public API. */
object SparkAccess {

  /** The application's own conf, the same object as `SparkEnv.conf`; `sc.getConf` would be a copy. */
  def conf(sc: SparkContext): SparkConf = sc.conf

  /** Hadoop's configuration for an application. */
  def hadoop(conf: SparkConf): Configuration = SparkHadoopUtil.get.newConfiguration(conf)

  /** Tells every listener, the event log among them. */
  def post(sc: SparkContext, event: SparkListenerEvent): Unit = sc.listenerBus.post(event)

  /** Whether driver and executors are one process; `local-cluster` starts processes. */
  def isLocalMaster(conf: SparkConf): Boolean = Utils.isLocalMaster(conf)

  /** Whether Spark reads this key through a registered entry, which expands `${...}` inside values. */
  def isRegistered(key: String): Boolean = ConfigEntry.findEntry(key) != null

  /** Whether this JVM is on its way to its end. */
  def ending: Boolean = ShutdownHookManager.inShutdown()

  /** What `spark-defaults.conf` has for every application. */
  def defaults: Map[String, String] =
    Option(Utils.getDefaultPropertiesFile()).map(Utils.getPropertiesFromFile(_).toMap).getOrElse(Map.empty)
}
