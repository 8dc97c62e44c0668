import org.apache.spark.sql.SparkSession

/** A Scala application that ends in the way that its first argument names; the second says whether it stops Spark. */
object Ending {
  def main(arguments: Array[String]): Unit = {
    val Array(how, stopping) = arguments
    val spark = SparkSession.builder.getOrCreate()
    assert(spark.range(2).count() == 2)
    if (stopping == "stop") spark.stop()
    println("READY")
    System.out.flush()
    how match {
      case "return" =>
      case "exception" => throw new IllegalArgumentException("on purpose")
      case "exit" => System.exit(3)
      case "halt" => Runtime.getRuntime.halt(4)
      case _ => Thread.sleep(Long.MaxValue)
    }
  }
}
