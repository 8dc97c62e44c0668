package bench

import java.lang.management.ManagementFactory
import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions
import org.apache.spark.sql.jdbc.JdbcDialects

/** What one use of a reference costs, measured inside of the driver's JVM: processor time of the calling thread. */
object UseBench {
  private val threads = ManagementFactory.getThreadMXBean

  /** @return microseconds a turn: the laps, each of `count` turns */
  private def laps(count: Int, laps: Int)(turn: => Any): Array[Double] = Array.fill(laps) {
    val began = threads.getCurrentThreadCpuTime
    var i = 0
    while (i < count) { turn; i += 1 }
    (threads.getCurrentThreadCpuTime - began) / 1e3 / count
  }

  /** Connections as a task or the planner opens them. */
  def connections(options: JMap[String, String], count: Int, number: Int): Array[Double] = {
    val parsed = new JDBCOptions(options.asScala.toMap + ("dbtable" -> "t"))
    val factory = JdbcDialects.get(options.get("url")).createConnectionFactory(parsed)
    laps(count, number)(factory(-1).close())
  }

  /** `current()` of Scala code; by name, for stock Spark does not have it. */
  def current(text: String, count: Int, number: Int): Array[Double] = {
    val api = Class.forName("io.sparkconfig.driver.DriverApi$", true, Thread.currentThread().getContextClassLoader)
    val module = api.getField("MODULE$").get(null)
    val lookup =
      java.lang.invoke.MethodHandles.lookup().unreflect(api.getMethod("current", classOf[String])).bindTo(module)
    // As compiled code calls it: no array of arguments.
    laps(count, number) { val value: String = lookup.invokeExact(text); value }
  }

  /** Analysis alone. */
  def analysis(spark: SparkSession, text: String, number: Int): Array[Double] =
    laps(1, number)(spark.sessionState.analyzer.execute(spark.sessionState.sqlParser.parsePlan(text)))
}
