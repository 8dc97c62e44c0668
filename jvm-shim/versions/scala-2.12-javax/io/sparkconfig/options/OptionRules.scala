package io.sparkconfig.options

import org.apache.spark.sql.SparkSessionExtensions

/** The rules of Spark 3.5, which has no hint resolution. */
private[sparkconfig] object OptionRules {
  def inject(extensions: SparkSessionExtensions): Unit = {
    extensions.injectPostHocResolutionRule(new CommandRule(_))
    extensions.injectPreCBORule(_ => V2Rule)
  }
}
