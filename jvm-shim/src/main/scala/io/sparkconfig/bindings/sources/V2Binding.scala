package io.sparkconfig.bindings.sources

import io.sparkconfig.core.{Binding, Bound}
import org.apache.spark.sql.SparkSessionExtensions

/** V2 relations and writes, at each query: [[V2Rule]]. */
private[bindings] object V2Binding extends Binding {
  override def name: String = "V2 sources and streams"

  override def binds: Seq[Bound] = Seq(
    Bound(
      "`SELECT ... WITH (...)`, `INSERT ... WITH (...)`, `read.option(...).table(...)`, `writeTo`",
      "yes",
      "`read.option` of files and V2 tables, `writeTo`; 3.5 has no such SQL"),
    Bound("writes: V1 and V2 sources, files, partitioned and bucketed [4] [9]", "yes", "yes"),
    Bound(
      "streams: V1 and V2 sources, file and V2 sinks [9], `foreachBatch`, `toTable`",
      "yes",
      "yes, sources as in the first row"))

  override def inject(session: SparkSessionExtensions): Unit = session.injectPreCBORule(_ => V2Rule)
}
