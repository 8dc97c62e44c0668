package org.apache.spark.sparkconfig

import org.apache.spark.SparkContext
import org.apache.spark.deploy.history.{EventLogFileWriter, RedactingEventLogWriter}
import org.apache.spark.scheduler.{EventLoggingListener, RedactingQueues, SparkListener, SparkListenerEvent}
import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.sql.SparkSessionExtensions

/** What redaction needs of Spark's private parts. */
object RedactionAccess {

  /** The context that is being constructed on this JVM, or the active one. */
  def context(): Option[SparkContext] = {
    val accessor = Reflect.method(SparkContext.getClass, "contextBeingConstructed")
    accessor.invoke(SparkContext).asInstanceOf[Option[SparkContext]].orElse(SparkContext.getActive)
  }

  /**
   * Puts `redact` before the event log's writer. Extra listeners are built after the event logger and before the
   * bus starts, so no event can be written earlier.
   * @return whether there is an event log
   */
  def redactEventLog(sc: SparkContext, redact: String => String): Boolean = sc.eventLogger match {
    case None => false
    case Some(logger) =>
      val field = Reflect.field(classOf[EventLoggingListener], "logWriter")
      field.get(logger) match {
        case _: RedactingEventLogWriter =>
        case writer: EventLogFileWriter =>
          field.set(logger, new RedactingEventLogWriter(writer, sc.conf, sc.hadoopConfiguration, redact))
      }
      true
  }

  /**
   * Turns redaction on in the Python that has started this JVM, if there is one; once. Never throws.
   * @param session the start of the first one is the moment; SQL cannot make it, so that no query can call this
   * @param thread makes the thread that tells it
   */
  def redactDriverPython(session: SparkSessionExtensions, thread: Runnable => Thread): Unit =
    DriverPython.redact(session, thread)

  /**
   * Lets the listeners of others see what `redact` makes of a queue's events; those in the package `ours` see the
   * events themselves.
   */
  def redactListeners(
      sc: SparkContext,
      ours: String,
      keeper: SparkListener,
      redact: (String, SparkListenerEvent) => SparkListenerEvent): Unit =
    RedactingQueues.install(sc.listenerBus, sc.conf, ours, keeper, redact)
}
