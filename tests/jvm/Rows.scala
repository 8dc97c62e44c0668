import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}

import org.apache.spark.sql.SparkSession

/** Reads twice; between, it changes rows and secret. On 3.5 a reader of Scala loads at once: a view in SQL. */
object Rows {
  def main(arguments: Array[String]): Unit = {
    val Array(rows, secrets, seen, from, to) = arguments
    val spark = SparkSession.builder.getOrCreate()
    def read(key: String) = {
      val separator = "${files:" + secrets + ":" + key + "}"
      val loaded =
        if (spark.version.startsWith("3.")) {
          spark.sql(s"CREATE OR REPLACE TEMPORARY VIEW v USING text OPTIONS (path '$rows', lineSep '$separator')")
          spark.table("v")
        } else spark.read.format("text").option("lineSep", separator).load(rows)
      loaded.collect().map(_.getString(0)).sorted.mkString(",")
    }
    def change(file: String, text: String => String) = {
      val before = new String(Files.readAllBytes(Paths.get(file)), UTF_8)
      Files.write(Paths.get(file), text(before).getBytes(UTF_8))
    }
    val first = read("between")
    change(rows, _.replace(from, to))
    change(secrets, _.replace(from, to))
    // A change is used as soon as it has arrived.
    val until = System.nanoTime() + 12L * 1000000000
    var second = read("between")
    while (second != first && System.nanoTime() < until) second = read("between")
    val refused =
      try { read("nothing"); "" }
      catch { case e: Exception => e.getClass.getSimpleName + " " + e.getMessage }
    spark.stop()
    change(seen, _ => Seq(first, second, refused).mkString("\n"))
  }
}
