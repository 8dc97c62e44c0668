package org.apache.spark.scheduler

import java.util.concurrent.CopyOnWriteArrayList

import com.codahale.metrics.Timer
import org.apache.spark.SparkConf
import org.apache.spark.sparkconfig.access.Reflect

/**
 * A queue of Spark's listener bus whose listeners get redacted events.
 *
 * @param ours   the package whose listeners are given the event itself: they show nothing
 * @param redact what listeners of a queue get
 */
private final class RedactingQueue(
    name: String,
    conf: SparkConf,
    bus: LiveListenerBus,
    ours: String,
    redact: (String, SparkListenerEvent) => SparkListenerEvent)
  extends AsyncEventQueue(name, conf, bus.metrics, bus) {

  // One thread hands an event to one listener after the other.
  private var last: SparkListenerEvent = _
  private var lastRedacted: SparkListenerEvent = _

  /** Ours have no timers: of each the page of metrics would have a line, which takes a while to write. */
  override protected def getTimer(listener: SparkListenerInterface): Option[Timer] =
    if (listener.getClass.getName.startsWith(ours)) None else super.getTimer(listener)

  override def doPostEvent(listener: SparkListenerInterface, event: SparkListenerEvent): Unit =
    super.doPostEvent(listener, if (listener.getClass.getName.startsWith(ours)) event else redacted(event))

  private def redacted(event: SparkListenerEvent): SparkListenerEvent = {
    if (event ne last) {
      last = event
      lastRedacted = redact(name, event)
    }
    lastRedacted
  }
}

/**
 * Puts redacting queues before the listeners of others: the shared queue has `spark.extraListeners`, those of
 * `addSparkListener` and query execution listeners, the other one has streaming query listeners. Spark's own UI, event
 * log and scheduler listen on queues of their own, which stay as they are.
 */
object RedactingQueues {
  val Streams = "streams"

  /**
   * @param keeper keeps a queue alive that has no other listener yet
   * @param redact what listeners of a queue get
   * @throws IllegalStateException if events flow already
   */
  def install(
      bus: LiveListenerBus,
      conf: SparkConf,
      ours: String,
      keeper: SparkListener,
      redact: (String, SparkListenerEvent) => SparkListenerEvent): Unit = bus.synchronized {
    if (bus.queuedEvents == null) throw new IllegalStateException("the listener bus runs already")
    val queues =
      Reflect.field(classOf[LiveListenerBus], "queues").get(bus).asInstanceOf[CopyOnWriteArrayList[AsyncEventQueue]]
    Seq("shared", Streams).foreach { name =>
      val at = (0 until queues.size).find(queues.get(_).name == name)
      if (!at.exists(queues.get(_).isInstanceOf[RedactingQueue])) {
        val queue = new RedactingQueue(name, conf, bus, ours, redact)
        queue.addListener(keeper)
        at match {
          case Some(index) =>
            queues.get(index).listeners.forEach(queue.addListener(_))
            queues.set(index, queue)
          case None => queues.add(queue)
        }
      }
    }
  }
}
