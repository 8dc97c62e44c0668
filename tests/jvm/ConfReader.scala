package com.acme.shop

import java.nio.file.{Files, Paths}

import scala.util.Try

import org.apache.spark.SparkEnv
import org.apache.spark.sql.SparkSession

/**
 * Reads its confs in every way of Scala, as connectors do, and writes what it saw as lines "what=value" into the file
 * that its first argument names. The other arguments are pairs for the session's builder.
 */
object ConfReader {
  private val Placed = "spark.redis.auth"
  private val Kept = "spark.shop.token"

  def main(arguments: Array[String]): Unit = {
    val given = arguments.drop(1).grouped(2).map(pair => pair(0) -> pair(1)).toMap
    val spark = build(given)
    val copy = spark.sparkContext.getConf
    val seen = Seq(
      "placed getConf" -> copy.get(Placed),
      "placed getAll" -> copy.getAll.toMap.apply(Placed),
      "placed prefix" -> copy.getAllWithPrefix("spark.redis.").toMap.apply("auth"),
      "placed clone" -> copy.clone().get(Placed),
      "placed session" -> spark.conf.get(Placed),
      "placed session list" -> spark.conf.getAll(Placed),
      "placed new session" -> spark.newSession().conf.get(Placed),
      "placed same session" -> build(given).conf.get(Placed),
      "placed env" -> SparkEnv.get.conf.get(Placed),
      "placed task" -> inTask(spark, SparkEnv.get.conf.get(Placed)),
      "placed set" -> setIn(spark, _.conf.set(Placed, "mine")),
      "placed SET" -> setIn(spark, _.sql(s"SET $Placed=yours").collect()),
      "placed set and session again" -> setIn(build(given), _.conf.get(Placed)),
      "placed unset" -> setIn(spark, _.conf.unset(Placed)),
      "kept env" -> WhoGetsWhat.value(Kept),
      "kept task" -> inTask(spark, WhoGetsWhat.value(Kept)),
      "kept prefix" -> copy.getAllWithPrefix("spark.shop.").toMap.apply("token"),
      "kept set" -> Try(spark.conf.set(Kept, "mine")).map(_ => "done").get,
      "journal" -> Thread.getAllStackTraces.keySet.toString.contains("sparkconfig-journal").toString) ++
      WhoGetsWhat.references(build(given), Kept).zipWithIndex.map { case (text, i) => s"kept reference $i" -> text }
    spark.stop()
    val next = SparkSession.builder.master("local[1]").config("spark.plugins", "").config(Placed, "first").getOrCreate()
    next.conf.set(Placed, "next")
    val all = seen :+ ("next application" -> next.conf.get(Placed))
    next.stop()
    Files.write(Paths.get(arguments(0)), all.map { case (what, text) => s"$what=$text\n" }.mkString.getBytes("UTF-8"))
  }

  private def build(given: Map[String, String]): SparkSession =
    given.foldLeft(SparkSession.builder)((builder, pair) => builder.config(pair._1, pair._2)).getOrCreate()

  /** What a job's own change shows to its session. */
  private def setIn(spark: SparkSession, change: SparkSession => Any): String =
    Try(change(spark)).map(_ => spark.conf.getOption(Placed).getOrElse("nothing")).recover { case e =>
      e.getMessage
    }.get

  private def inTask(spark: SparkSession, read: => String): String =
    spark.sparkContext.parallelize(Seq(1), 1).map(_ => read).collect().head
}
