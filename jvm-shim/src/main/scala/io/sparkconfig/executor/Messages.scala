package io.sparkconfig.executor

import java.util.{HashMap => JHashMap, Map => JMap}

import scala.collection.JavaConverters._

import org.apache.spark.broadcast.Broadcast

/** What executors ask the driver over Spark's plugin RPC, and its answers. */
private[executor] sealed trait Message

/** Asks for the application's key, with which snapshots are encrypted. */
private[executor] case object AskKey extends Message

private[executor] final class Key(val bytes: Array[Byte]) extends Message

/** An executor asks for a snapshot newer than the one it knows; the answer is Unchanged or SnapshotNews. */
private[executor] final case class AskSnapshot(known: Long, executor: String) extends Message

private[executor] case object Unchanged extends Message

/**
 * An encrypted snapshot: inline when small; through a broadcast, whose blocks spill to disk, when large.
 *
 * @param inline the bytes, or null
 * @param shared the broadcast of the bytes, or null
 */
private[executor] final class SnapshotNews(
    val generation: Long,
    val inline: Array[Byte],
    val shared: Broadcast[Array[Byte]]) extends Message

/**
 * Asks the driver to take an expression into the snapshot that it has not seen yet.
 *
 * @param worker whether it is for a Python worker, which the policy judges by itself
 */
private[executor] final case class AskExpression(text: String, siblings: Map[String, String], worker: Boolean)
  extends Message

/** The driver is at it, on another thread than the one that answers; ask again. */
private[executor] case object Pending extends Message

/** The snapshot holds it from this generation on. */
private[executor] final case class Ready(generation: Long) extends Message

/** The text holds no reference that a provider answers: it is its own value. */
private[executor] case object Plain extends Message

/** It cannot be resolved; the text holds no value. */
private[executor] final case class Refused(message: String) extends Message

/**
 * Messages on the wire: arrays of the JDK's and Spark's own types. Spark deserialises RPC messages with a class
 * loader that does not know jars from `--jars`, and a class that it cannot find costs the executor its connection.
 */
private[sparkconfig] object Messages {
  type Wire = Array[AnyRef]

  private[executor] def encode(message: Message): Wire = message match {
    case AskKey => Array("ask-key")
    case key: Key => Array("key", key.bytes)
    case AskSnapshot(known, executor) => Array("ask-snapshot", Long.box(known), executor)
    case Unchanged => Array("unchanged")
    case news: SnapshotNews => Array("snapshot", Long.box(news.generation), news.inline, news.shared)
    case AskExpression(text, siblings, worker) =>
      Array("ask-expression", text, new JHashMap[String, String](siblings.asJava), Boolean.box(worker))
    case Pending => Array("pending")
    case Ready(generation) => Array("ready", Long.box(generation))
    case Plain => Array("plain")
    case Refused(message) => Array("refused", message)
  }

  /** None for anything that is no message of ours, as from a jar of another version. */
  private[executor] def decode(wire: Any): Option[Message] = wire match {
    case Array("ask-key") => Some(AskKey)
    case Array("key", bytes: Array[Byte]) => Some(new Key(bytes))
    case Array("ask-snapshot", known: java.lang.Long, executor: String) => Some(AskSnapshot(known, executor))
    case Array("unchanged") => Some(Unchanged)
    case Array("snapshot", generation: java.lang.Long, inline, shared) =>
      Some(new SnapshotNews(
        generation, inline.asInstanceOf[Array[Byte]], shared.asInstanceOf[Broadcast[Array[Byte]]]))
    case Array("ask-expression", text: String, siblings: JMap[_, _], worker: java.lang.Boolean) =>
      Some(AskExpression(text, siblings.asInstanceOf[JMap[String, String]].asScala.toMap, worker))
    case Array("pending") => Some(Pending)
    case Array("ready", generation: java.lang.Long) => Some(Ready(generation))
    case Array("plain") => Some(Plain)
    case Array("refused", message: String) => Some(Refused(message))
    case _ => None
  }
}
