package io.sparkconfig.driver

import java.util.regex.Pattern

import io.sparkconfig.bindings.Bindings
import io.sparkconfig.core.ConfLists
import io.sparkconfig.policy.doors.Doors
import io.sparkconfig.redaction.sinks.{Sinks, Stage}
import org.apache.spark.SparkConf

/**
 * Appends sparkconfig's listener, session extension, filter and the like to Spark's own confs. Spark reads these
 * after plugins start, so one `spark.plugins` line is the whole installation; what others named there stays.
 */
private[driver] object Hooks {
  private val SparkRedaction = "(?i)secret|password|token|access[.]?key"

  /** @param inPlace conf key to the value that is put into the conf itself */
  def append(conf: SparkConf, inPlace: Map[String, String]): Unit = {
    inPlace.foreach { case (key, value) => conf.set(key, value) }
    Sinks.install(Stage.Confs(conf))
    Doors.prepare(conf)
    ConfLists.add(conf, "spark.sql.extensions", "io.sparkconfig.ConfigExtensions")
    Bindings.prepare(conf)
    if (inPlace.nonEmpty) {
      val keys = inPlace.keys.toSeq.sorted.flatMap(key => Seq(key, key.stripPrefix("spark.hadoop.")).distinct)
      val patterns = keys.map(key => "^" + Pattern.quote(key) + "$")
      conf.set("spark.redaction.regex", (conf.get("spark.redaction.regex", SparkRedaction) +: patterns).mkString("|"))
    }
  }
}
