package io.sparkconfig.bindings.sources

import org.apache.spark.sql.SparkSessionExtensions

/** The rules of Spark 4.0 and later. */
private[sparkconfig] object OptionRules {
  def inject(extensions: SparkSessionExtensions): Unit = {
    extensions.injectHintResolutionRule(new LoadRule(_))
    extensions.injectPostHocResolutionRule(new CommandRule(_))
    extensions.injectPreCBORule(_ => V2Rule)
  }
}
