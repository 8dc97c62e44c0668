package io.sparkconfig

import io.sparkconfig.core.{BuildInfo, StartFailedException}
import org.apache.spark.api.plugin.{DriverPlugin, ExecutorPlugin, SparkPlugin}

/**
 * Turns sparkconfig on: `spark.plugins=io.sparkconfig.ConfigPlugin` is the whole installation.
 *
 * The driver side starts the Python side process, resolves the references in the confs and hooks the places
 * where values are used or could be shown; the executor side holds the newest snapshot of the values.
 */
class ConfigPlugin extends SparkPlugin {
  override def driverPlugin(): DriverPlugin = {
    ConfigPlugin.check(scala.util.Properties.versionNumberString, BuildInfo.flavour)
    new driver.DriverSide
  }

  override def executorPlugin(): ExecutorPlugin = new executor.ExecutorSide
}

private object ConfigPlugin {

  /**
   * Says that the jar is another Spark's, before the first class that is missing here does. Uses nothing of Scala's
   * library that differs between its versions, string interpolation and collections among them.
   */
  def check(scalaVersion: String, flavour: String): Unit = {
    val second = scalaVersion.indexOf('.', scalaVersion.indexOf('.') + 1)
    val scala = if (second < 0) scalaVersion else scalaVersion.substring(0, second)
    if (!flavour.startsWith("scala-" + scala + "-"))
      throw new StartFailedException("this sparkconfig jar (" + flavour + ") is for another Spark: Spark " +
        org.apache.spark.SPARK_VERSION + " runs on Scala " + scala + ". Use the path that 'sparkconfig jar' prints " +
        "in an environment with this Spark, or run 'sparkconfig install --spark-home DIR'.")
  }
}
