package io.sparkconfig.bindings.sources

import io.sparkconfig.core.{Binding, Bound}
import org.apache.spark.sql.SparkSessionExtensions

/** Sources that are loaded before there is a plan to change; the rules differ between Spark versions. */
private[bindings] object LoadBinding extends Binding {
  override def name: String = "loads"

  override def binds: Seq[Bound] = Seq(
    Bound(
      "`read.format(...).load()`, `csv()`, `json()`, `parquet()`, paths",
      "yes",
      "PySpark with this package in the driver's Python: yes; Scala and Java: V1 and V2 sources by `CREATE TEMPORARY " +
        "VIEW ... USING`, a V1 source that holds the text is an error"))

  override def inject(session: SparkSessionExtensions): Unit = {
    LoadRules.inject(session)
    session.injectPostHocResolutionRule(new RecipeRule(_))
  }
}
