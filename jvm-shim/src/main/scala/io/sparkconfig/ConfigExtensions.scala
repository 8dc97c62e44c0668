package io.sparkconfig

import io.sparkconfig.bindings.Bindings
import io.sparkconfig.core.{SparkConfigException, Values}
import io.sparkconfig.policy.doors.Doors
import io.sparkconfig.redaction.sinks.{Sinks, Stage}
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.sparkconfig.InPlaceConfs

/**
 * The session extension, appended to `spark.sql.extensions` by the plugin itself: the rules by which references in
 * options reach data sources as values, and the redaction of what commands and a Thrift server answer. Named alone,
 * without the plugin, nothing could resolve a reference, so the session fails with the line that is missing.
 */
class ConfigExtensions extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    if (!Values.isInstalled) {
      throw new SparkConfigException(
        "spark.sql.extensions names io.sparkconfig.ConfigExtensions, but the plugin does not run. " +
          "Set spark.plugins=io.sparkconfig.ConfigPlugin; it adds the extension by itself.")
    }
    InPlaceConfs.beforeSession()
    Doors.open(extensions)
    Bindings.inject(extensions)
    Sinks.install(Stage.Session(extensions))
  }
}
