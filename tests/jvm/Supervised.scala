import java.nio.file.{Files, Path, StandardOpenOption, StandardWatchEventKinds}
import java.util.concurrent.TimeUnit

import org.apache.spark.SparkEnv

/** What it prints is masked; the files that it writes hold digests alone. */
object Supervised {

  /** A digest of the newest pair, on the driver and in tasks, and where this is. */
  def pair(): (String, String) = {
    val value = SparkEnv.get.conf.get("spark.shop.pair")
    println("printed " + value)
    val digest = java.security.MessageDigest.getInstance("SHA-256").digest(value.getBytes("UTF-8"))
    (digest.map(b => f"$b%02x").mkString, SparkEnv.get.blockManager.blockManagerId.host)
  }

  def main(arguments: Array[String]): Unit = {
    val spark = org.apache.spark.sql.SparkSession.builder.getOrCreate()
    val seen = Path.of(arguments(0), ProcessHandle.current.pid.toString)
    val stop = Path.of(arguments(1))
    val files = stop.getFileSystem.newWatchService()
    stop.toAbsolutePath.getParent.register(files, StandardWatchEventKinds.ENTRY_CREATE)
    var last = ""
    while (!Files.exists(stop)) {
      val (here, host) = pair()
      val (there, other) = spark.sparkContext.parallelize(Seq(0), 1).map(_ => pair()).collect().head
      val line = s"$here $there $host $other\n"
      if (line != last) Files.writeString(seen, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND)
      last = line
      files.poll(200, TimeUnit.MILLISECONDS)
    }
    spark.stop()
  }
}
