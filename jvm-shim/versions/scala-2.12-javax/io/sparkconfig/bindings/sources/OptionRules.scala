package io.sparkconfig.bindings.sources

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.sparkconfig.ParserHook

/** The rules of Spark 3.5, which has no hint resolution. */
private[sparkconfig] object OptionRules {
  def inject(extensions: SparkSessionExtensions): Unit = {
    extensions.injectParser((session, parser) => ParserHook(session, parser, CatalogOptions.values))
    extensions.injectResolutionRule(new StartRule(_))
    extensions.injectPostHocResolutionRule(new CommandRule(_))
    extensions.injectPreCBORule(_ => V2Rule)
  }
}
