package shop

import java.nio.file.{Files, Paths}

import scala.util.Try

import org.apache.spark.TaskContext
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions.{lit, udf}
import org.slf4j.{LoggerFactory, MDC}

/** The Scala application of the audit: jobs with secrets wherever a job can show them, then a crash of the JVM. */
object Shop {
  private val Key = """spark\.shop\.(\w+)\.(?:pwd|apikey)""".r
  private lazy val log = LoggerFactory.getLogger("shop")

  def main(arguments: Array[String]): Unit = {
    val spark = SparkSession.builder.appName("audit-scala").getOrCreate()
    val values = spark.sparkContext.getConf.getAll.toSeq.collect { case (Key(_), text) => value(text) }
    values.grouped(8).map(_.mkString(" | ")).foreach { text =>
      sql(spark, text)
      rdds(spark, text)
      failures(spark, text)
      logs(text)
    }
    println("READY")
    while (!Files.exists(Paths.get(arguments(0)))) Thread.sleep(100)
    crash()
  }

  /** Without sparkconfig its classes are not there, and no text is a reference. */
  private def value(text: String): String =
    if (!text.contains("${files:")) text
    else {
      val api = Thread.currentThread.getContextClassLoader.loadClass("io.sparkconfig.driver.DriverApi$")
      api.getMethod("current", classOf[String]).invoke(api.getField("MODULE$").get(null), text).asInstanceOf[String]
    }

  private def sql(spark: SparkSession, text: String): Unit = {
    val secret = spark.range(4).withColumn("secret", lit(text))
    secret.filter(secret("secret") === text).count()
    secret.explain(true)
    val parse = udf((s: String) => if (TaskContext.get().attemptNumber() < 9) s.toInt else 0)
    failing(secret.select(parse(secret("secret"))).collect())
    failing(spark.sql(s"SELEKT '$text'"))
    failing(spark.table(s"`$text`"))
  }

  private def rdds(spark: SparkSession, text: String): Unit = {
    val sc = spark.sparkContext
    sc.setJobGroup(s"group $text", s"description $text")
    val shared = sc.broadcast(text)
    sc.longAccumulator(s"counter $text")
    sc.parallelize(1 to 8, 2).setName(s"rdd $text").cache().map(x => (x % 2, shared.value.length)).reduceByKey(
      _ + _).collect()
    sc.clearJobGroup()
  }

  private def failures(spark: SparkSession, text: String): Unit = {
    failing(spark.sparkContext.parallelize(Seq(text), 1).map(s => wrapped(s)).collect())
    val thread = new Thread(() => throw new IllegalStateException(s"in a thread: $text"), "shop-thread")
    thread.start()
    thread.join()
  }

  private def wrapped(text: String): Int =
    try text.toInt
    catch { case cause: NumberFormatException => throw new IllegalArgumentException(s"not a number: $text", cause) }

  private def logs(text: String): Unit = {
    val error = new RuntimeException(s"error $text", new IllegalArgumentException(s"cause $text"))
    error.addSuppressed(new IllegalStateException(s"suppressed $text"))
    log.error(s"logged $text", error)
    MDC.put("shop", text)
    log.warn("with context")
    MDC.remove("shop")
    println(s"printed $text")
  }

  private def failing(job: => Any): Unit = Try(job).failed.foreach(_.printStackTrace())

  /** A native fault: the JVM dies at once and writes its report. */
  private def crash(): Unit = {
    val field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe")
    field.setAccessible(true)
    field.get(null).asInstanceOf[sun.misc.Unsafe].putAddress(0L, 0L)
  }
}
