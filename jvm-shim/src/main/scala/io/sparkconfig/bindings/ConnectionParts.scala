package io.sparkconfig.bindings

import java.util.concurrent.ConcurrentHashMap

import scala.collection.JavaConverters._

import io.sparkconfig.core.Target
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions

/** What a JDBC driver gets of a data source's options. */
private[bindings] object ConnectionParts {

  /** Whether an option of this name is the driver's, as far as it is known: Spark says so of each name by itself. */
  private val isDrivers = new ConcurrentHashMap[String, java.lang.Boolean]()
  private val MostNames = 1000

  /**
   * URL and properties as they were written, by key; [[Target.Url]] for the URL. Spark has parsed the options several
   * times by now, and each time takes a tenth of what a connection does: names that it has sorted once are known.
   */
  def of(options: Map[String, String]): Map[String, String] = {
    val folded = CaseInsensitiveMap(options)
    val given = folded.originalMap
    val parts = Map.newBuilder[String, String]
    val each = given.iterator
    while (each.hasNext) {
      val option = each.next()
      val drivers = isDrivers.get(option._1)
      if (drivers == null) return parsed(options, given)
      if (drivers) parts += option
    }
    (parts += Target.Url -> folded(JDBCOptions.JDBC_URL)).result()
  }

  private def parsed(options: Map[String, String], given: Map[String, String]): Map[String, String] = {
    val spark = new JDBCOptions(options)
    val properties = spark.asConnectionProperties.asScala
    if (isDrivers.size < MostNames) given.keys.foreach(name => isDrivers.put(name, properties.contains(name)))
    properties.toMap + (Target.Url -> spark.url)
  }
}
