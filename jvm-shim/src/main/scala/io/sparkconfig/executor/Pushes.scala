package io.sparkconfig.executor

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.locks.LockSupport

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import io.sparkconfig.core.Threads
import org.apache.spark.sparkconfig.PushChannel
import org.slf4j.LoggerFactory

/**
 * Sends each generation to the executors that listen, from a thread of its own. An executor that does not confirm one
 * gets the newest one again, but no more than [[Pushes.Ahead]] in all, since a paused executor would fill this JVM's
 * memory. It asks when it goes on.
 *
 * @param newest the news, and what [[Pushed.covered]] means; None: there are none yet
 * @param againMs after how many milliseconds without an answer news are sent again
 */
private[executor] final class Pushes(
    newest: () => Option[Pushed],
    send: (AnyRef, Messages.Wire) => Unit = PushChannel.send,
    againMs: Long = Pushes.AgainMs) {
  import Pushes._

  private val log = LoggerFactory.getLogger(classOf[Pushes])
  private val listeners = new ConcurrentHashMap[String, Listener]()
  @volatile private var closed = false
  @volatile private var dirty = false
  private val sender = Threads.daemon("sparkconfig-push")(loop())

  def start(): Unit = sender.start()

  /** An executor listens from now on; memory only. A reference of an earlier start of its plugin gives way. */
  def listen(executor: String, reference: AnyRef): Unit = listeners.put(executor, new Listener(reference))

  def reach(executor: String): Boolean = listeners.containsKey(executor)

  def forget(executor: String): Unit = listeners.remove(executor)

  /** An executor said what it has; memory only. */
  def has(executor: String, state: ExecutorState): Unit = {
    val listener = listeners.get(executor)
    if (listener != null) {
      listener.acknowledged(state)
      if (newest().exists(news => listener.lacks(news.news))) tell()
    }
  }

  /** There are news. */
  def tell(): Unit = {
    dirty = true
    LockSupport.unpark(sender)
  }

  def close(): Unit = {
    closed = true
    sender.interrupt()
    listeners.clear()
  }

  private def loop(): Unit = while (!closed) {
    if (isAwaited) {
      val until = System.nanoTime() + againMs * 1000000
      while (!dirty && !closed && until - System.nanoTime() > 0) LockSupport.parkNanos(this, until - System.nanoTime())
      if (!dirty) listeners.forEach((_, listener) => listener.takeAgain())
    } else while (!dirty && !closed) LockSupport.park(this)
    dirty = false
    try newest().foreach(sendAll)
    catch {
      case NonFatal(e) => log.warn("a generation could not be pushed; executors ask for it: {}", e.getClass.getName)
    }
  }

  /** Whether an executor that would get the newest news again has not yet confirmed them. */
  private def isAwaited: Boolean = newest().exists(pushed => listeners.values.asScala.exists(_.isAwaited(pushed.news)))

  private def sendAll(pushed: Pushed): Unit = {
    val wire = Messages.encode(pushed)
    listeners.forEach { (_, listener) =>
      if (listener.takes(pushed.news))
        try send(listener.reference, wire)
        catch { case NonFatal(e) => log.debug("an executor does not listen: {}", e.getClass.getName) }
    }
  }
}

private object Pushes {

  /** How many pushes an executor may leave without an answer. */
  private val Ahead = 3
  private val AgainMs = 5000L

  private final class Listener(val reference: AnyRef) {
    private var has = ExecutorState.None
    private var sent = ExecutorState.None
    private var unanswered = 0

    def acknowledged(state: ExecutorState): Unit = synchronized {
      has = ExecutorState(math.max(has.generation, state.generation), math.max(has.masks, state.masks))
      unanswered = 0
    }

    def lacks(news: SnapshotNews): Boolean = synchronized(isNews(news))

    /** Whether it has these news not yet, as far as it has said, and would get them again. */
    def isAwaited(news: SnapshotNews): Boolean = synchronized(exceeds(news, has) && unanswered < Ahead)

    /** What was sent and not answered counts as lost. */
    def takeAgain(): Unit = synchronized { sent = has }

    /** Whether it gets these news now; counts them if it does. */
    def takes(news: SnapshotNews): Boolean = synchronized {
      val takes = isNews(news) && unanswered < Ahead
      if (takes) {
        unanswered += 1
        sent = ExecutorState(news.generation, news.masks)
      }
      takes
    }

    private def isNews(news: SnapshotNews) = exceeds(news, has) && exceeds(news, sent)

    private def exceeds(news: SnapshotNews, state: ExecutorState) =
      news.generation > state.generation || news.masks > state.masks
  }
}
