package com.databricks.backend.daemon.driver
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths, StandardOpenOption}

import org.apache.spark.SparkConf
import org.apache.spark.scheduler._
class DBCEventLoggingListener(conf: SparkConf) extends SparkListener {
  private val file = Paths.get(conf.get("spark.databricks.test.eventlog"))
  private def write(event: Any): Unit =
    Files.write(file, (event.toString + "\n").getBytes(UTF_8), StandardOpenOption.CREATE, StandardOpenOption.APPEND)
  override def onEnvironmentUpdate(event: SparkListenerEnvironmentUpdate): Unit = write(event)
  override def onJobStart(event: SparkListenerJobStart): Unit = write(event.properties)
  override def onApplicationEnd(event: SparkListenerApplicationEnd): Unit = write(event)
}
class OtherPlugin extends org.apache.spark.api.plugin.SparkPlugin {
  override def driverPlugin() = new org.apache.spark.api.plugin.DriverPlugin {}
  override def executorPlugin() = null
}
