package io.sparkconfig.driver

import java.util.{Collections, Map => JMap}

import io.sparkconfig.core.{SparkConfigException, StartFailedException}
import io.sparkconfig.redaction.sinks.LogNoise
import org.apache.spark.SparkContext
import org.apache.spark.api.plugin.{DriverPlugin, PluginContext}

/** The driver's half: an exception in `init` stops the application, which is how every failed check ends. */
private[sparkconfig] class DriverSide extends DriverPlugin {
  @volatile private var application: Option[Application] = None
  @volatile private var local = true

  override def init(sc: SparkContext, context: PluginContext): JMap[String, String] = {
    LogNoise.started()
    val started =
      try Application.start(sc)
      catch {
        case known: SparkConfigException =>
          LogNoise.startFailed()
          throw new StartFailedException(known.getMessage)
      }
    application = Some(started)
    local = sc.isLocal
    started.executorSettings
  }

  override def registerMetrics(appId: String, context: PluginContext): Unit =
    application.foreach(_.ready(appId, context.metricRegistry()))

  /** Only executors have questions. In local mode there are none, and a question comes from outside. */
  override def receive(message: Any): AnyRef =
    if (local) null else application.map(_.answer(message)).orNull

  override def shutdown(): Unit = {
    application.foreach(_.close())
    application = None
  }
}
