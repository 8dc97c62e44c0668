package io.sparkconfig.policy

import java.nio.file.Files

import scala.util.Try

import munit.FunSuite
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.hadoop.mapred.{FileInputFormat, JobConf}

class PlainNamesSuite extends FunSuite {
  private val hadoop = new Configuration(false)
  hadoop.set("fs.defaultFS", "file:///")
  hadoop.set("hadoop.tmp.dir", Files.createTempDirectory("names").toString)

  private def filter = FileInputFormat.getInputPathFilter(new JobConf(hadoop))

  test("a file whose name is a pattern is refused wherever it is listed, in any file system") {
    SharedFiles.install(Seq("s3a://lake/*"), Map.empty, hadoop)
    try for ((path, isRefused) <- Seq(
          "s3a://lake/shop/{q,../ben/t.json}" -> true,
          "file:/lake/shop/t[1].json" -> true,
          "file:/lake/shop/t*" -> true,
          "hdfs://[::1]:8020/lake/t?" -> true,
          "abfss://c@a.example/lake/\\.\\./t" -> true,
          "hdfs://[::1]:8020/lake/day=1}/t]^,.json" -> false,
          "s3a://lake/shop/part-0000.parquet" -> false)) {
        assertEquals(Try(filter.accept(new Path(path))).isFailure, isRefused, clue(path))
      }
    finally SharedFiles.release()
  }

  test("a filter of the operator's own stops the start") {
    val own = new Configuration(hadoop)
    own.set("mapreduce.input.pathFilter.class", "com.acme.Own")
    try interceptMessage[io.sparkconfig.core.SparkConfigException](
        "This server is shared, and mapreduce.input.pathFilter.class names a filter of files: remove that setting.")(
        SharedFiles.install(Nil, Map.empty, own))
    finally SharedFiles.release()
  }
}
