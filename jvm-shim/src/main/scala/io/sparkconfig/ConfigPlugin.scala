package io.sparkconfig

import org.apache.spark.api.plugin.{DriverPlugin, ExecutorPlugin, SparkPlugin}

/**
 * Turns sparkconfig on: `spark.plugins=io.sparkconfig.ConfigPlugin` is the whole installation.
 *
 * The driver side starts the Python side process, resolves the references in the confs and hooks the places
 * where values are used or could be shown; the executor side holds the newest snapshot of the values.
 */
class ConfigPlugin extends SparkPlugin {
  override def driverPlugin(): DriverPlugin = new plugin.DriverSide
  override def executorPlugin(): ExecutorPlugin = new executor.ExecutorSide
}
