package growth

import org.apache.spark.sql.SparkSession

/** Queries of which no two are alike, made in the driver's JVM: a call of Py4J costs more than one of them. */
object Growth {

  /** Analyses a query for each number; the options of each hold these texts with the number behind them. */
  def queries(spark: SparkSession, first: Int, count: Int, path: String, texts: Array[String]): Unit =
    (first until first + count).foreach { number =>
      val reader = spark.read.format("csv").schema("a INT")
      texts.zipWithIndex.foreach { case (text, index) => reader.option(s"shop$index", s"$text-$number") }
      reader.load(path).where(s"a > $number").queryExecution.assertAnalyzed()
    }
}
