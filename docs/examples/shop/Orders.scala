// A job in Scala. It reads the table twice: through Spark, where a reference is enough, and through a client of its
// own, which asks the driver for the value. Java does the same with DriverApi$.MODULE$.
//
//     echo ':paste Orders.scala' | spark-shell --properties-file job.conf
//
// Compiled into a jar it stays as it is, but for the session, which spark-shell brings.
import io.sparkconfig.driver.DriverApi

val url = spark.conf.get("spark.shop.jdbc")
val reference = "$" + "{sealed:shop:password}" // spark-shell is fine with the text in one piece, too

val throughSpark = spark.read.format("jdbc")
  .option("url", url).option("dbtable", "sales.orders").option("user", "shop").option("password", reference)
  .load().count()

// The value is asked for where it is used, and kept in no variable: after a rotation the next call gets the new one.
val connection = java.sql.DriverManager.getConnection(url, "shop", DriverApi.current(reference))
val rows = connection.createStatement().executeQuery("SELECT count(*) FROM sales.orders")
rows.next()
println(s"orders through Spark: $throughSpark, through a client: ${rows.getLong(1)}")
connection.close()

System.exit(0)
