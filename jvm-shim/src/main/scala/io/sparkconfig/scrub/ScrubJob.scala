package io.sparkconfig.scrub

import java.io.{IOException, OutputStream}

import scala.util.control.NonFatal

import io.sparkconfig.core.Json
import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.TaskContext
import org.apache.spark.api.java.{JavaRDD, JavaSparkContext}

/** What `sparkconfig scrub --spark` needs of the JVM: lists of logs, their content, and new content in its place. */
class ScrubJob(context: JavaSparkContext) {

  /**
   * All files below an address that are not hidden.
   *
   * @return JSON: a list of (address, bytes, milliseconds since 1970)
   */
  def list(address: String): String = {
    val path = new Path(address)
    val system = path.getFileSystem(context.hadoopConfiguration)
    val found = Json.array()
    def add(status: FileStatus): Unit =
      if (status.isDirectory)
        system.listStatus(status.getPath).filterNot(_.getPath.getName.startsWith(".")).foreach(add)
      else if (!status.isSymlink)
        found.addArray().add(status.getPath.toString).add(status.getLen).add(status.getModificationTime)
    add(system.getFileStatus(path))
    Json.write(found)
  }

  /** Frames of the logs in `groups`, JSON: a list of lists of addresses, one a task. */
  def blocks(groups: String): JavaRDD[Array[Byte]] = {
    val parsed = Json.parse(groups)
    val addresses = (0 until parsed.size).map(index => Json.texts(parsed.get(index)).toArray).toArray
    new LogBlocks(context.sc, addresses).toJavaRDD()
  }

  /**
   * Put new content in the places of logs.
   *
   * @param frames what the engine made of those of `blocks`; Z holds JSON with `keep`, whether it is to take the place
   * @return JSON: a list of what each Z said, with `changed`, and with `skip` if it could not be done
   */
  def write(frames: JavaRDD[Array[Byte]]): String = {
    val results = frames.rdd.mapPartitions(new FrameWriter(_)).collect()
    results.mkString("[", ",", "]")
  }
}

/** Writes new logs as their frames come; its elements are the results. */
private class FrameWriter(frames: Iterator[Array[Byte]]) extends Iterator[String] {
  private val systems = new FileSystems(TaskContext.get())
  private var path: Path = _
  private var replacement: Option[Replacement] = None
  private var out: Option[OutputStream] = None
  private var trouble: Option[String] = None
  // A task that is killed leaves nothing behind.
  Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit](_ => discard()))

  override def hasNext: Boolean = frames.hasNext

  override def next(): String = {
    var result: Option[String] = None
    while (result.isEmpty && frames.hasNext) {
      val frame = frames.next()
      frame(0) match {
        case Frame.File =>
          val Array(seen, address) = Frame.text(frame).split("\t", 2)
          begin(new Path(address), seen)
        case Frame.Data => guarded(out.foreach(_.write(frame, 1, frame.length - 1)))
        case _ => result = Some(end(Frame.text(frame)))
      }
    }
    result.getOrElse(throw new IOException("the engine ended before its last log"))
  }

  private def begin(next: Path, seen: String): Unit = {
    path = next
    trouble = None
    guarded {
      replacement = Some(Replacement.of(path, systems))
      // From here on the replacement notices changes; this is about the time since the reading began.
      if (Replacement.seen(path, systems) != seen) throw new IOException(Replacement.Changed)
      out = Some(LogFile.writing(path, replacement.get.out))
    }
  }

  private def end(said: String): String = {
    val result = Json.parse(said).asInstanceOf[com.fasterxml.jackson.databind.node.ObjectNode]
    val keep = result.remove("keep").asBoolean
    var changed = false
    if (keep) guarded {
      out.foreach(_.close())
      out = None
      trouble = trouble.orElse(replacement.flatMap(_.commit()))
      changed = trouble.isEmpty
    }
    discard()
    result.put("changed", changed)
    if (keep) trouble.foreach(result.put("skip", _))
    Json.write(result)
  }

  /** One log that cannot be written does not end the others. */
  private def guarded(action: => Unit): Unit =
    if (trouble.isEmpty)
      try action
      catch {
        case NonFatal(error) => trouble = Some(Replacement.reason(error))
      }

  private def discard(): Unit = {
    out.foreach(opened =>
      try opened.close()
      catch { case NonFatal(_) => })
    out = None
    replacement.foreach(each =>
      try each.discard()
      catch { case NonFatal(_) => })
    replacement = None
  }
}
