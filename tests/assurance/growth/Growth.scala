package growth

import org.apache.spark.sql.sources.{BaseRelation, RelationProvider}
import org.apache.spark.sql.types.{IntegerType, StructType}
import org.apache.spark.sql.{SQLContext, SparkSession}

/** A source that costs nothing itself. */
class Shop extends RelationProvider {
  override def createRelation(context: SQLContext, options: Map[String, String]): BaseRelation = new BaseRelation {
    override def sqlContext: SQLContext = context
    override def schema: StructType = new StructType().add("a", IntegerType)
  }
}

/** Queries of which no two are alike, made in the driver's JVM: a call of Py4J costs more than one of them. */
object Growth {

  /** Analyses a query for each number; the options of each hold these texts with the number behind them. */
  def queries(spark: SparkSession, first: Int, count: Int, texts: Array[String]): Unit =
    (first until first + count).foreach { number =>
      val reader = spark.read.format("growth.Shop")
      texts.zipWithIndex.foreach { case (text, index) => reader.option(s"shop$index", s"$text-$number") }
      reader.load().where(s"a > $number").queryExecution.assertAnalyzed()
    }
}
