package shop
class Asks extends org.apache.spark.sql.api.java.UDF1[String, String] {
  override def call(text: String): String =
    try { io.sparkconfig.driver.DriverApi.current(text).length.toString }
    catch { case e: Exception => e.getMessage }
}
