package io.sparkconfig.agent

import java.nio.file.attribute.FileTime
import java.nio.file.{Files, InvalidPathException, Path, Paths}
import java.util.concurrent.TimeUnit

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.JsonNode

/**
 * What shows that a value is still the newest, without a call: the side process has counted no change since, its time
 * is not over, and the files that it came from are in the states in which they were before they were read.
 *
 * @param until by `System.nanoTime`
 */
private[sparkconfig] final class Proof private (
    changes: ChangeCounter,
    count: Long,
    until: Option[Long],
    files: Array[FileState]) {

  /** @param running the counter of the process that runs */
  def holds(running: ChangeCounter): Boolean =
    (running eq changes) && changes.count == count && until.forall(System.nanoTime() - _ < 0) && {
      var i = 0
      while (i < files.length && files(i).isStill) i += 1
      // Once more: a change that came before the last file was looked at.
      i == files.length && changes.count == count
    }
}

private[sparkconfig] object Proof {

  /** @param since when the question was asked, by `System.nanoTime` */
  def fromJson(node: JsonNode, changes: ChangeCounter, count: Long, since: Long): Proof =
    new Proof(
      changes,
      count,
      Option(node.get("good_ms")).map(ms => since + (ms.asDouble * 1e6).toLong),
      node.path("files").elements().asScala.map(FileState.fromJson).toArray)
}

/**
 * What changes when a file's content does: its identity, its size, and the time of its last change. Whatever sets the
 * time of the last modification sets that one, too. Each name that is asked for costs besides the `stat`.
 */
private final class FileState(path: Path, device: Long, inode: Long, size: Long, changed: Long) {

  def isStill: Boolean =
    try {
      val now = Files.readAttributes(path, FileState.Names)
      now.get("ino").asInstanceOf[java.lang.Long] == inode &&
      FileState.nanos(now.get("ctime")) == changed &&
      now.get("size").asInstanceOf[java.lang.Long] == size &&
      now.get("dev").asInstanceOf[java.lang.Long] == device
    } catch {
      case _: java.io.IOException | _: SecurityException | _: UnsupportedOperationException => false
    }
}

private object FileState {
  private val Names = "unix:ino,ctime,size,dev"

  def fromJson(node: JsonNode): FileState =
    try
      new FileState(
        Paths.get(node.get(0).asText),
        node.get(1).asLong,
        node.get(2).asLong,
        node.get(3).asLong,
        node.get(5).asLong)
    catch { case _: InvalidPathException => Never }

  private def nanos(time: AnyRef): Long = time.asInstanceOf[FileTime].to(TimeUnit.NANOSECONDS)

  /** No file has these times. */
  private val Never = new FileState(Paths.get("/"), -1L, -1L, -1L, Long.MinValue)
}
