package org.apache.spark.sparkconfig

import org.apache.spark.internal.config.ConfigEntry
import org.apache.spark.scheduler.SparkListenerEvent
import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.util.{ShutdownHookManager, Utils}
import org.apache.spark.{SparkConf, SparkContext}

/** The few private members of Spark that the shim reads; everything else uses public API. */
object SparkAccess {

  /** The application's own conf, the same object as `SparkEnv.conf`; `sc.getConf` would be a copy. */
  def conf(sc: SparkContext): SparkConf = sc.conf

  /** Tells every listener, the event log among them. */
  def post(sc: SparkContext, event: SparkListenerEvent): Unit = sc.listenerBus.post(event)

  /**
   * Writes to the event log at an application's end, when plugins end: on Spark 4 before the bus does, on 3.5 after it.
   * As long as the bus runs, the log has a thread of its own.
   */
  def logEvent(sc: SparkContext, event: SparkListenerEvent): Unit =
    if (Reflect.get(sc, "_listenerBusStarted") == true) post(sc, event)
    else sc.eventLogger.foreach(_.onOtherEvent(event))

  /** Whether the application writes an event log. */
  def logsEvents(sc: SparkContext): Boolean = sc.isEventLogEnabled

  /** Whether driver and executors are one process; `local-cluster` starts processes. */
  def isLocalMaster(conf: SparkConf): Boolean = Utils.isLocalMaster(conf)

  /** Whether Spark reads this key through a registered entry, which expands `${...}` inside values. */
  def isRegistered(key: String): Boolean = ConfigEntry.findEntry(key) != null

  /** Whether this JVM is on its way to its end. */
  def ending: Boolean = ShutdownHookManager.inShutdown()

  /** Environment variables of executors, already collected from `spark.executorEnv.*` when plugins start. */
  def executorEnvs(sc: SparkContext): scala.collection.mutable.Map[String, String] = sc.executorEnvs

  /** What `spark-defaults.conf` has for every application. */
  def defaults: Map[String, String] =
    Option(Utils.getDefaultPropertiesFile()).map(Utils.getPropertiesFromFile(_).toMap).getOrElse(Map.empty)
}
