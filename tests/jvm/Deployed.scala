/** An application in cluster mode, which does not stop Spark. */
object Deployed {
  def main(arguments: Array[String]): Unit = {
    val spark = org.apache.spark.sql.SparkSession.builder.getOrCreate()
    val value = org.apache.spark.SparkEnv.get.conf.get("spark.shop.password")
    val digest = java.security.MessageDigest.getInstance("SHA-256").digest(value.getBytes("UTF-8"))
    println("printed " + value)
    println("SEEN " + digest.map(b => f"$b%02x").mkString + " " + spark.sparkContext.parallelize(1 to 7, 1).count())
  }
}
