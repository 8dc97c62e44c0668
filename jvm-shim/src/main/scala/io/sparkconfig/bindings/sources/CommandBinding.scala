package io.sparkconfig.bindings.sources

import io.sparkconfig.core.{Binding, Bound}
import org.apache.spark.sql.SparkSessionExtensions

/** Commands of V1 sources and files: [[CommandRule]]. */
private[bindings] object CommandBinding extends Binding {
  override def name: String = "commands"

  override def binds: Seq[Bound] = Seq(
    Bound(
      "`CREATE TABLE ... USING`, `catalog.createTable`, CTAS, `INSERT`, `insertInto`, `saveAsTable` [3]",
      "yes",
      "yes"),
    Bound(
      "`CREATE TEMPORARY VIEW ... USING`",
      "yes",
      "yes"),
    Bound("SQL through the Spark Thrift server and `spark-sql`", "yes", "yes"))

  override def inject(session: SparkSessionExtensions): Unit =
    session.injectPostHocResolutionRule(new CommandRule(_))
}
