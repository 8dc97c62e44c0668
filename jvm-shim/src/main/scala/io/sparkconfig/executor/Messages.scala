package io.sparkconfig.executor

import java.util.{HashMap => JHashMap, Map => JMap}

import scala.collection.JavaConverters._

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sparkconfig.PushChannel

/** What executors ask the driver over Spark's plugin RPC, and its answers. */
private[executor] sealed trait Message

/** Asks for the application's key, with which snapshots are encrypted. */
private[executor] case object AskKey extends Message

private[executor] final class Key(val bytes: Array[Byte]) extends Message

/**
 * An executor asks for what it does not know yet; the answer is Unchanged, Pending or SnapshotNews.
 *
 * @param known its generation
 * @param masks how many of the driver's [[MaskHistory]] it masks
 */
private[executor] final case class AskSnapshot(known: Long, masks: Long, executor: String) extends Message

/** @param againMs when to ask again, where news are pushed besides */
private[executor] final case class Unchanged(againMs: Long) extends Message

/**
 * An encrypted snapshot: inline when small; through a broadcast, whose blocks spill to disk, when large.
 *
 * @param inline the bytes, or null
 * @param shared the broadcast of the bytes, or null
 * @param masks how many of the driver's [[MaskHistory]] who has this masks
 * @param retired values of generations that the executor has missed, for redaction alone; null: it missed none
 */
private[executor] final class SnapshotNews(
    val generation: Long,
    val inline: Array[Byte],
    val shared: Broadcast[Array[Byte]],
    val masks: Long,
    val retired: Retired = null)
  extends Message {

  def withRetired(values: Retired): SnapshotNews = new SnapshotNews(generation, inline, shared, masks, values)
}

/**
 * News that the driver sends without being asked.
 *
 * @param covered an executor that has applied this many entries of the driver's [[MaskHistory]] is up to date with
 *                these news; otherwise it asks for the rest
 */
private[executor] final class Pushed(val news: SnapshotNews, val covered: Long) extends Message

/** An executor listens for news at this endpoint of its RPC environment; the answer is Listening. */
private[executor] final class Listen(val executor: String, val reference: AnyRef) extends Message

private[executor] case object Listening extends Message

/** An executor has a generation and has applied this many entries of [[MaskHistory]]; it waits for no answer. */
private[executor] final case class Have(executor: String, state: ExecutorState) extends Message

/** Encrypted values, inline or through a broadcast; `masks` as in [[SnapshotNews]], which the bytes are bound to. */
private[executor] final class Retired(
    val masks: Long,
    val inline: Array[Byte],
    val shared: Broadcast[Array[Byte]])

/**
 * Asks the driver for values that the snapshot of this executor does not hold.
 *
 * @param wanted texts with their siblings
 * @param worker whether it is for a Python worker, which the policy evaluates by itself
 */
private[executor] final case class AskExpressions(wanted: Seq[(String, Map[String, String])], worker: Boolean)
  extends Message

/**
 * The values of these expressions were refused where they were used.
 *
 * @param ids of expressions in use; others have no effect
 * @param ticket 0 at first, then the number that [[Renewing]] gave
 */
private[executor] final case class AskRenewal(ids: Set[String], ticket: Long) extends Message

/** Their stores are being asked, for everybody who was refused by then; ask again with this number. */
private[executor] final case class Renewing(ticket: Long) extends Message

/** Their stores were asked; what was read a moment ago may be read again after `waitMs`, unless that is 0. */
private[executor] final case class Renewed(waitMs: Long) extends Message

/** The driver is at it, on another thread than the one that answers; ask again. */
private[executor] case object Pending extends Message

/**
 * The values of the expressions, encrypted.
 *
 * @param part of this generation
 * @param texts the places of those that hold no reference which a provider answers: they are their own values
 */
private[executor] final class Ready(val generation: Long, val part: Array[Byte], val texts: Set[Int]) extends Message

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
    case AskSnapshot(known, masks, executor) => Array("ask-snapshot", Long.box(known), Long.box(masks), executor)
    case Unchanged(againMs) => Array("unchanged", Long.box(againMs))
    case news: SnapshotNews =>
      val retired = Option(news.retired)
      Array(
        "snapshot",
        Long.box(news.generation),
        news.inline,
        news.shared,
        Long.box(news.masks),
        retired.map(each => Long.box(each.masks)).orNull,
        retired.map(_.inline).orNull,
        retired.map(_.shared).orNull)
    case pushed: Pushed => Array("pushed", Long.box(pushed.covered), encode(pushed.news))
    case listen: Listen => Array("listen", listen.executor, listen.reference)
    case Listening => Array("listening")
    case Have(executor, state) => Array("have", executor, Long.box(state.generation), Long.box(state.masks))
    case AskRenewal(ids, ticket) => Array("ask-renewal", ids.toArray[String], Long.box(ticket))
    case Renewing(ticket) => Array("renewing", Long.box(ticket))
    case Renewed(waitMs) => Array("renewed", Long.box(waitMs))
    case AskExpressions(wanted, worker) =>
      val siblings: Array[AnyRef] =
        wanted.map { case (_, map) => new JHashMap[String, String](map.asJava): AnyRef }.toArray
      Array("ask-expressions", wanted.map(_._1).toArray[String], siblings, Boolean.box(worker))
    case Pending => Array("pending")
    case ready: Ready => Array("ready", Long.box(ready.generation), ready.part, ready.texts.toArray[Int])
    case Refused(message) => Array("refused", message)
  }

  /** None for anything that is not a message of ours, as from a jar of another version. */
  private[executor] def decode(wire: Any): Option[Message] = wire match {
    case Array("ask-key") => Some(AskKey)
    case Array("key", bytes: Array[Byte]) => Some(new Key(bytes))
    case Array("ask-snapshot", known: java.lang.Long, masks: java.lang.Long, executor: String) =>
      Some(AskSnapshot(known, masks, executor))
    case Array("unchanged", againMs: java.lang.Long) => Some(Unchanged(againMs))
    case Array("snapshot", generation: java.lang.Long, inline, shared, masks: java.lang.Long, number, old, oldShared) =>
      val retired = number match {
        case upTo: java.lang.Long => new Retired(upTo, bytes(old), broadcast(oldShared))
        case _ => null
      }
      Some(new SnapshotNews(generation, bytes(inline), broadcast(shared), masks, retired))
    case Array("pushed", covered: java.lang.Long, news) =>
      decode(news).collect { case snapshot: SnapshotNews => new Pushed(snapshot, covered) }
    case Array("listen", executor: String, reference: AnyRef) if PushChannel.isReference(reference) =>
      Some(new Listen(executor, reference))
    case Array("listening") => Some(Listening)
    case Array("have", executor: String, generation: java.lang.Long, masks: java.lang.Long) =>
      Some(Have(executor, ExecutorState(generation, masks)))
    case Array("ask-renewal", ids: Array[String], ticket: java.lang.Long) => Some(AskRenewal(ids.toSet, ticket))
    case Array("renewing", ticket: java.lang.Long) => Some(Renewing(ticket))
    case Array("renewed", waitMs: java.lang.Long) => Some(Renewed(waitMs))
    case Array("ask-expressions", texts: Array[String], siblings: Array[_], worker: java.lang.Boolean)
        if texts.length == siblings.length =>
      val maps = siblings.toSeq.map(_.asInstanceOf[JMap[String, String]].asScala.toMap)
      Some(AskExpressions(texts.toSeq.zip(maps), worker))
    case Array("pending") => Some(Pending)
    case Array("ready", generation: java.lang.Long, part: Array[Byte], texts: Array[Int]) =>
      Some(new Ready(generation, part, texts.toSet))
    case Array("refused", message: String) => Some(Refused(message))
    case _ => None
  }

  private def bytes(part: Any): Array[Byte] = part.asInstanceOf[Array[Byte]]

  private def broadcast(part: Any): Broadcast[Array[Byte]] = part.asInstanceOf[Broadcast[Array[Byte]]]
}
