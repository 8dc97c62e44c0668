package io.sparkconfig.bindings.sources

import org.apache.spark.sql.SparkSessionExtensions

/** Spark 4.0 and later. */
private[sources] object LoadRules {
  def inject(session: SparkSessionExtensions): Unit = {
    session.injectHintResolutionRule(new LoadRule(_))
    session.injectPreCBORule(new HeldRule(_))
  }
}
