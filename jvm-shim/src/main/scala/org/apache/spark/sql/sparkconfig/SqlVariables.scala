package org.apache.spark.sql.sparkconfig

import scala.collection.mutable
import scala.util.Try
import scala.util.matching.Regex

import org.apache.spark.internal.config.{ConfigProvider, ConfigReader}
import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.sql.internal.{SQLConf, VariableSubstitution}

/** What Spark would put into a SQL text instead of `${...}`. */
object SqlVariables {

  /**
   * What the text names that is not the session's: variables of the server's environment (`env:HOME`) and JVM
   * (`system:user.home`), also by way of a conf whose value names one, and confs (`conf:spark.x`), whose values would
   * become data. References of providers have other prefixes, and are left alone by Spark.
   *
   * @param isServers whether a conf of the session's is one of the server's though its name does not say so
   */
  def ofServer(text: String, isServers: String => Boolean = _ => false): Set[String] =
    if (!text.contains("${") || !SQLConf.get.variableSubstituteEnabled) Set.empty
    else {
      val found = mutable.Set.empty[String]
      val confs = provider { key =>
        val text = Try(SQLConf.get.getConfString(key)).toOption
        if (text.isDefined && (key.startsWith("spark.") || isServers(key))) found += s"conf:$key"
        text
      }
      val reader = new ConfigReader(confs)
      Seq("spark", "sparkconf", "hivevar", "hiveconf").foreach(reader.bind(_, confs))
      Seq("env", "system").foreach(prefix => reader.bind(prefix, provider { key => found += s"$prefix:$key"; None }))
      // What Spark cannot expand, it will say itself.
      Try(reader.substitute(text))
      found.toSet
    }

  private val Name = "(?:[^}$\\s]|\\$(?!\\{)){1,1000}+"

  /** Has a name in it no other beginning of one, and a limit; otherwise as Spark's own. */
  private val Variable = s"\\$$\\{(?:(\\w++):)?($Name)\\}".r

  /**
   * Spark looks from each beginning of a name for its end up to the next blank: a megabyte of them takes hours, and a
   * Thrift server does so before any door. From here on this JVM looks once at each character.
   */
  def bound(): Unit = {
    val reader = Class.forName(classOf[ConfigReader].getName + "$")
    val spark = Reflect.get(reader.getField("MODULE$").get(null), "REF_RE")
    Reflect.field(classOf[Regex], "pattern").set(spark, Variable.pattern)
  }

  /** What Spark puts instead of a text's variables, one a line. */
  def values(text: String): String =
    if (!text.contains("${")) ""
    else Try(new VariableSubstitution().substitute(Variable.findAllIn(text).mkString("\n"))).getOrElse("")

  private def provider(find: String => Option[String]): ConfigProvider = new ConfigProvider {
    override def get(key: String): Option[String] = find(key)
  }
}
