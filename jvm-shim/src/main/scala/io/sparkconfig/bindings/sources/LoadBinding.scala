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
      "PySpark: `sparkconfig.session.configure`, or `sparkconfig.spark35.install()`; Scala and Java: `CREATE " +
        "TEMPORARY VIEW ... USING`"))

  override def inject(session: SparkSessionExtensions): Unit = {
    LoadRules.inject(session)
    session.injectPostHocResolutionRule(new RecipeRule(_))
  }
}
