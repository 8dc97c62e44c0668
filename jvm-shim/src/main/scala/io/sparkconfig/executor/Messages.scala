package io.sparkconfig.executor

import org.apache.spark.broadcast.Broadcast

/** What executors ask the driver over Spark's plugin RPC, and its answers. */
sealed trait Message extends Serializable

/** Asks for the application's key, with which snapshots are encrypted. */
final case class AskKey(executorId: String) extends Message

final class Key(val bytes: Array[Byte]) extends Message

/** Asks for a snapshot newer than the generation known; the answer is Unchanged or SnapshotNews. */
final case class AskSnapshot(known: Long, executorId: String) extends Message

case object Unchanged extends Message

/**
 * An encrypted snapshot: inline when small; through a broadcast, whose blocks spill to disk, when large.
 *
 * @param inline the bytes, or null
 * @param shared the broadcast of the bytes, or null
 */
final class SnapshotNews(val generation: Long, val inline: Array[Byte], val shared: Broadcast[Array[Byte]])
  extends Message

/** Asks the driver to take an expression into the snapshot that it has not seen yet. */
final case class AskExpression(text: String, siblings: Map[String, String], executorId: String) extends Message

/** The driver is at it, on another thread than the one that answers; ask again. */
case object Pending extends Message

/** The snapshot holds it from this generation on. */
final case class Ready(generation: Long) extends Message

/** It cannot be resolved; the text holds no value. */
final case class Refused(message: String) extends Message
