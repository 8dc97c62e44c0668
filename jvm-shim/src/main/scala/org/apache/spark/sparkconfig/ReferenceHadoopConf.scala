package org.apache.spark.sparkconfig

import java.util.{HashMap => JHashMap, Iterator => JIterator, Map => JMap}

import org.apache.hadoop.conf.Configuration
import org.apache.spark.SparkContext

/**
 * A Hadoop configuration whose enumeration gives references (the environment page and event enumerate it) and
 * whose `get`, copy and serialised form give values, as file systems need them.
 *
 * @param references Hadoop key to the text with references
 */
private final class ReferenceHadoopConf(source: Configuration, references: Map[String, String])
  extends Configuration(source) {

  override def iterator(): JIterator[JMap.Entry[String, String]] = {
    val shown = new JHashMap[String, String]()
    val entries = super.iterator()
    while (entries.hasNext) {
      val entry = entries.next()
      shown.put(entry.getKey, references.getOrElse(entry.getKey, entry.getValue))
    }
    shown.entrySet().iterator()
  }
}

/** Replaces the application's Hadoop configuration. */
object ReferenceHadoopConf {
  /**
   * @param references Hadoop key to text with references
   * @param values Hadoop key to value
   */
  def install(sc: SparkContext, references: Map[String, String], values: Map[String, String]): Unit = {
    val field = classOf[SparkContext].getDeclaredFields
      .find(_.getName.endsWith("_hadoopConfiguration"))
      .getOrElse(throw new IllegalStateException("SparkContext has no field _hadoopConfiguration in this version"))
    field.setAccessible(true)
    val replaced = new ReferenceHadoopConf(sc.hadoopConfiguration, references)
    values.foreach { case (key, value) => replaced.set(key, value, "sparkconfig") }
    field.set(sc, replaced)
  }

  /** Puts values of a newer generation in place. Clients that file systems keep stay as they are. */
  def update(sc: SparkContext, values: Map[String, String]): Unit =
    values.foreach { case (key, value) =>
      if (sc.hadoopConfiguration.getRaw(key) != value) sc.hadoopConfiguration.set(key, value, "sparkconfig")
    }
}
