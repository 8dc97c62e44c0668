package io.sparkconfig.bindings.sources

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.sparkconfig.ParserHook

/** Spark 3.5 has no hint resolution. */
private[sources] object LoadRules {
  def inject(session: SparkSessionExtensions): Unit = {
    session.injectParser((spark, parser) => ParserHook(spark, parser, CatalogOptions))
    session.injectResolutionRule(new StartRule(_))
  }
}
