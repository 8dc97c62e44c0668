package io.sparkconfig.plugin

import java.util.{Collections, Map => JMap}

import org.apache.spark.SparkContext
import org.apache.spark.api.plugin.{DriverPlugin, PluginContext}

/** The driver's half: an exception in `init` stops the application, which is how every failed check ends. */
private[sparkconfig] class DriverSide extends DriverPlugin {
  @volatile private var application: Option[Application] = None

  override def init(sc: SparkContext, context: PluginContext): JMap[String, String] = {
    val started = Application.start(sc)
    application = Some(started)
    started.executorSettings
  }

  override def registerMetrics(appId: String, context: PluginContext): Unit =
    application.foreach(_.ready(appId, context.metricRegistry()))

  override def receive(message: Any): AnyRef =
    application.map(_.answer(message)).orNull

  override def shutdown(): Unit = {
    application.foreach(_.close())
    application = None
  }
}
