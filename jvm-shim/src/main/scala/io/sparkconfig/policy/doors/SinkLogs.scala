package io.sparkconfig.policy.doors

import java.io.IOException
import java.net.URI
import java.nio.charset.StandardCharsets.UTF_8

import scala.io.Source
import scala.util.Try

import com.fasterxml.jackson.core.{JsonFactory, JsonParser}
import com.fasterxml.jackson.databind.ObjectMapper
import io.sparkconfig.policy.StatementItem.Read
import io.sparkconfig.policy.{CanonicalPath, StatementItem}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}

/**
 * Logs that streams into files leave in their folders. A reader of such a folder reads what its log names, which may
 * lie anywhere. Spark opens these files before there is a relation, to infer a schema, so the log is read before Spark
 * reads it, by paths that are allowed already.
 */
private[doors] object SinkLogs {
  private val Folder = "_spark_metadata"
  private val Version = "v\\d+".r
  private val json = new ObjectMapper(new JsonFactory().enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION))

  /** The files outside of the folders that a statement reads, which logs in these folders name. */
  def items(named: Set[StatementItem], conf: Configuration): Set[StatementItem] =
    named.filter(item => item.kind == "path" && item.detail == Read).flatMap { item =>
      files(item.name, conf).filterNot(_.startsWith(s"${item.name}/")).map(StatementItem("path", _, Read))
    }

  private def files(folder: String, conf: Configuration): Set[String] =
    // Spark's own errors say what cannot be read; a log that cannot be listed is none to Spark.
    try {
      val log = new Path(folder, Folder)
      val fs = log.getFileSystem(conf)
      fs.listStatus(log).filter(_.isFile).flatMap(paths(fs, _)).toSet
        .map((path: String) =>
          Try(new Path(new URI(path)).toString).fold(_ => s"unknown:$path", CanonicalPath.of(_, conf)))
    } catch { case _: IOException | _: IllegalArgumentException | _: UnsupportedOperationException => Set.empty }

  private def paths(fs: FileSystem, file: FileStatus): Seq[String] = {
    val stream = fs.open(file.getPath)
    try Source.fromInputStream(stream, UTF_8.name).getLines().map(_.trim)
        .filterNot(line => line.isEmpty || Version.pattern.matcher(line).matches)
        // Spark may read a line that cannot be read here, and takes the first of two paths: no name, so refused.
        .map(line => Try(json.readTree(line).path("path").asText("")).getOrElse("")).toList.distinct
    finally stream.close()
  }
}
