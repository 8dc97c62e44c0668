package io.sparkconfig.policy.doors

import org.apache.spark.sql.SparkSessionExtensions

/** The options of reads; when they can be evaluated depends on the Spark version, see [[ReadOptions]]. */
private[doors] object ReadDoor extends Door {
  override def name: String = "options of reads"

  override def asks: Seq[Asked] = Seq(
    Asked(
      "`read`, `readStream`, `WITH` options",
      "before the source sees them",
      "the same",
      "files, JDBC and V2 sources: before a row is read"))

  override def open(session: SparkSessionExtensions): Unit = ReadOptions.inject(session)
}
