package io.sparkconfig.driver

import java.util.regex.Pattern

import io.sparkconfig.redaction.sinks.ConnectServer
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
    add(conf, "spark.extraListeners", "io.sparkconfig.redaction.sinks.EventLogListener")
    add(conf, "spark.ui.filters", "io.sparkconfig.redaction.sinks.UiFilter")
    add(conf, "spark.sql.extensions", "io.sparkconfig.ConfigExtensions")
    if (ConnectServer.canBeRedacted) add(conf, ConnectServer.InterceptorsKey, ConnectServer.Interceptor)
    // Spark refuses to choose between two providers for one connection; ours does all that `basic` does.
    add(conf, "spark.sql.sources.disabledJdbcConnProviderList", "basic")
    if (inPlace.nonEmpty) {
      val keys = inPlace.keys.toSeq.sorted.flatMap(key => Seq(key, key.stripPrefix("spark.hadoop.")).distinct)
      val patterns = keys.map(key => "^" + Pattern.quote(key) + "$")
      conf.set("spark.redaction.regex", (conf.get("spark.redaction.regex", SparkRedaction) +: patterns).mkString("|"))
    }
  }

  private def add(conf: SparkConf, key: String, element: String): Unit = {
    val present = conf.get(key, "").split(',').map(_.trim).filter(_.nonEmpty)
    if (!present.contains(element)) conf.set(key, (present :+ element).mkString(","))
  }
}
