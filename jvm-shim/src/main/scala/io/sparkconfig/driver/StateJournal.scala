package io.sparkconfig.driver

import java.util.concurrent.{Callable, Executors, TimeUnit, TimeoutException}

import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode
import io.sparkconfig.core.{Json, Threads}
import io.sparkconfig.ui.ConfigStateEvent
import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{SparkListener, SparkListenerApplicationEnd}
import org.apache.spark.sparkconfig.SparkAccess
import org.slf4j.LoggerFactory

/**
 * Writes the application's state into the event log: after changes, but seldom, and at the end. A rotation every
 * second must not fill the log.
 */
private[driver] final class StateJournal(sc: SparkContext, state: ApplicationState) extends SparkListener {
  import StateJournal._

  private val log = LoggerFactory.getLogger(classOf[StateJournal])
  @volatile private var changed = true
  @volatile private var last: Option[JsonNode] = None
  @volatile private var closed = false
  private val worker = Executors.newSingleThreadScheduledExecutor(Threads.factory("sparkconfig-journal"))

  def begin(): Unit = {
    sc.addSparkListener(this)
    worker.scheduleWithFixedDelay(
      () => if (changed && !closed) write(state.toJson),
      FirstMs,
      PauseMs,
      TimeUnit.MILLISECONDS)
  }

  /** The state is another one now. */
  def markDirty(): Unit = changed = true

  /**
   * Takes the last state while the executors are still known. It is written later: the bus may have stopped by the time
   * this is heard, and drops what is posted then.
   */
  override def onApplicationEnd(end: SparkListenerApplicationEnd): Unit =
    if (!closed) last = lastState()

  /** On Spark 4 the plugins may end before the end of the application is heard here. */
  def close(): Unit = {
    closed = true
    try last.orElse(lastState()).foreach(state => SparkAccess.logEvent(sc, event(state)))
    catch { case NonFatal(e) => log.warn("the last state is not in the event log: {}", e.getClass.getName) }
    finally worker.shutdownNow()
  }

  private def lastState(): Option[JsonNode] =
    try Some(worker.submit((() => state.lastJson): Callable[JsonNode]).get(LastMs, TimeUnit.MILLISECONDS))
    catch {
      case _: TimeoutException => log.warn("the last state is not in the event log: it took too long"); None
      case _: InterruptedException => Thread.currentThread().interrupt(); None
      case NonFatal(e) => log.warn("the last state is not in the event log: {}", e.getClass.getName); None
    }

  private def write(current: => JsonNode): Unit =
    try {
      changed = false
      SparkAccess.post(sc, event(current))
    } catch { case NonFatal(e) => log.debug("no state was written: {}", e.getClass.getName) }

  private def event(current: JsonNode) = ConfigStateEvent(System.currentTimeMillis(), Json.write(current))
}

private object StateJournal {
  private val FirstMs = 1000L
  private val PauseMs = 30000L
  private val LastMs = 3000L
}
