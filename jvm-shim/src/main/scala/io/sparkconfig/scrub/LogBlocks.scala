package io.sparkconfig.scrub

import java.io.{File, IOException, InputStream}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.rdd.RDD
import org.apache.spark.{Partition, SparkContext, TaskContext}

/**
 * The content of logs as a stream of frames for the engine, which is Python: nothing of it stays in Spark.
 * A frame is a letter and bytes: F, what was seen of the file and its address, D and content, E and why it cannot be
 * read on, Z at the end.
 *
 * @param groups addresses, one group a task
 */
private[scrub] class LogBlocks(context: SparkContext, groups: Array[Array[String]])
  extends RDD[Array[Byte]](context, Nil) {

  override protected def getPartitions: Array[Partition] =
    groups.zipWithIndex.map { case (addresses, index) => LogGroup(index, addresses) }

  override def compute(split: Partition, task: TaskContext): Iterator[Array[Byte]] = {
    val systems = new FileSystems(task)
    split.asInstanceOf[LogGroup].addresses.iterator.flatMap(address => new LogFrames(address, systems, task))
  }
}

private[scrub] case class LogGroup(index: Int, addresses: Array[String]) extends Partition

private[scrub] object Frame {
  val File: Byte = 'F'
  val Data: Byte = 'D'
  val Failed: Byte = 'E'
  val End: Byte = 'Z'
  val Block: Int = 1 << 20

  def apply(kind: Byte, text: String): Array[Byte] = kind +: text.getBytes(UTF_8)

  def text(frame: Array[Byte]): String = new String(frame, 1, frame.length - 1, UTF_8)
}

/** One log's frames. */
private class LogFrames(address: String, systems: FileSystems, task: TaskContext) extends Iterator[Array[Byte]] {
  private val path = new Path(address)
  private var stream: Option[InputStream] = None
  private var step = 0
  private var ahead: Option[Array[Byte]] = Some(Frame(Frame.File, s"${Replacement.seen(path, systems)}\t$address"))
  task.addTaskCompletionListener[Unit](_ => close())

  override def hasNext: Boolean = ahead.nonEmpty

  override def next(): Array[Byte] = {
    val frame = ahead.get
    ahead = following(frame(0))
    frame
  }

  private def following(kind: Byte): Option[Array[Byte]] =
    if (kind == Frame.End) None
    else if (kind == Frame.Failed) Some(Array(Frame.End))
    else
      try Some(block())
      catch {
        case NonFatal(error) =>
          close()
          // Before the first byte it is the file system's trouble, and a decompressor's afterwards.
          val damaged = step > 0 && error.isInstanceOf[IOException]
          Some(Frame(Frame.Failed, if (damaged) "it is cut off or damaged" else Replacement.reason(error)))
      }

  private def block(): Array[Byte] = {
    if (stream.isEmpty) {
      val raw = open()
      stream = Some(raw)
      step = 1
      stream = Some(LogFile.reading(path, raw))
    }
    val frame = new Array[Byte](Frame.Block + 1)
    frame(0) = Frame.Data
    var size = 0
    var read = 0
    while (read >= 0 && size < Frame.Block) {
      read = stream.get.read(frame, size + 1, Frame.Block - size)
      if (read > 0) size += read
    }
    if (size > 0) frame.take(size + 1)
    else {
      close()
      Array(Frame.End)
    }
  }

  private def open(): InputStream =
    if (Replacement.isLocal(path)) Files.newInputStream(new File(path.toUri.getPath).toPath)
    else systems.of(path).open(path)

  private def close(): Unit = {
    stream.foreach(opened =>
      try opened.close()
      catch { case _: IOException => })
    stream = None
  }
}
