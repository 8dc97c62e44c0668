package io.sparkconfig.executor

import java.util.concurrent.atomic.AtomicReference
import java.util.concurrent.locks.LockSupport

import scala.util.control.NonFatal

import io.sparkconfig.core.Threads
import org.slf4j.LoggerFactory

/**
 * What the driver pushes, until a thread of its own takes it. Only the newest counts: what comes meanwhile takes its
 * place.
 *
 * @param onTrouble called when a message could not be taken
 */
private[executor] final class Inbox(take: Pushed => Unit, onTrouble: () => Unit) {
  private val log = LoggerFactory.getLogger(classOf[Inbox])
  private val newest = new AtomicReference[Pushed]()
  @volatile private var closed = false
  @volatile private var well = true
  private val reader = Threads.daemon("sparkconfig-push")(loop())

  /** Whether the last message could be taken; if not, it has to be asked for. */
  def isWell: Boolean = well

  def start(): Unit = reader.start()

  /** Waits for nothing: it is called on Spark's dispatcher thread. What is not news is nothing. */
  def put(wire: Any): Unit = Messages.decode(wire) match {
    case Some(pushed: Pushed) =>
      newest.set(pushed)
      LockSupport.unpark(reader)
    case _ => ()
  }

  def close(): Unit = {
    closed = true
    reader.interrupt()
  }

  private def loop(): Unit = while (!closed) {
    val message = newest.getAndSet(null)
    if (message == null) LockSupport.park(this)
    else
      try {
        take(message)
        well = true
      } catch {
        case NonFatal(e) =>
          well = false
          // Only the class: a message could quote what was pushed.
          if (!closed)
            log.warn(
              "changes that the driver pushed could not be applied; this process asks for them: {}",
              e.getClass.getName)
          onTrouble()
      }
  }
}
