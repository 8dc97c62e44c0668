package org.apache.spark.sql.internal.policykeys

import scala.util.Try

import org.apache.spark.internal.config.ConfigEntry
import org.apache.spark.sql.internal.SQLConf

/**
 * Prints, a JSON object a line, every conf that has other names or counts plain numbers in a unit. In a package
 * below Spark's own, because the registries are private to it.
 */
object DumpKeys {
  private val Holders =
    Seq("package", "Kryo", "UI", "Status", "Streaming", "Network", "Worker", "Deploy", "History", "Python", "R").map(
      name => s"org.apache.spark.internal.config.$name$$") ++ Seq(
      "org.apache.spark.sql.internal.SQLConf$",
      "org.apache.spark.sql.internal.StaticSQLConf$",
      "org.apache.spark.sql.connect.config.Connect$",
      "org.apache.spark.deploy.yarn.config.package$",
      "org.apache.spark.deploy.k8s.Config$",
      "org.apache.spark.sql.hive.HiveUtils$")

  private def quoted(text: String): String = "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\""

  private def field(of: AnyRef, name: String): Any = {
    val found = of.getClass.getDeclaredFields.find(_.getName.contains(name)).get
    found.setAccessible(true)
    found.get(of)
  }

  private def line(key: String, unit: String, names: Iterable[String]): Unit =
    if (unit.nonEmpty || names.nonEmpty) {
      println(s"""{"key":${quoted(key)},"unit":${quoted(unit)},"names":[${names.map(quoted).mkString(",")}]}""")
    }

  def main(arguments: Array[String]): Unit = {
    Holders.foreach(name => Try(Class.forName(name, true, getClass.getClassLoader)))
    val registry = field(ConfigEntry, "knownConfigs").asInstanceOf[java.util.Map[String, ConfigEntry[Any]]]
    val entries = new java.util.ArrayList[ConfigEntry[Any]](registry.values)
    SQLConf.getConfigEntries().forEach(entry => entries.add(entry.asInstanceOf[ConfigEntry[Any]]))
    entries.forEach { entry =>
      // The converter writes one base unit with its unit: "1048576b" for MiB, "1000ms" for seconds.
      val one = Try(entry.stringConverter(1L)).orElse(Try(entry.stringConverter(Some(1L)))).getOrElse("")
      val fallback = Try(field(entry, "fallback").asInstanceOf[ConfigEntry[Any]].key).toOption
        .filter(SQLConf.deprecatedSQLConfigs.contains)
      line(entry.key, if (one.matches("[1-9][0-9]*(b|ms)")) one else "", entry.alternatives ++ fallback)
    }
    val companion = Class.forName("org.apache.spark.SparkConf$").getField("MODULE$").get(null)
    field(companion, "configsWithAlternatives").asInstanceOf[scala.collection.Map[String, Iterable[Product]]].foreach {
      case (key, alternatives) => line(key, "", alternatives.map(_.productElement(0).toString))
    }
  }
}
