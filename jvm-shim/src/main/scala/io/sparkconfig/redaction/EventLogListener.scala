package io.sparkconfig.redaction

import scala.util.control.NonFatal

import org.apache.spark.SparkConf
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.sparkconfig.RedactionAccess
import org.slf4j.LoggerFactory

/**
 * Named in `spark.extraListeners`: its constructor runs at the one moment when the event logger stands and no event
 * was sent yet. It listens to nothing.
 *
 * @throws IllegalStateException if there is an event log and it cannot be redacted, unless
 *                               `spark.config.redaction.require=false`
 */
class EventLogListener(conf: SparkConf) extends SparkListener {
  EventLogListener.install(conf)
}

object EventLogListener {
  val RequireKey = "spark.config.redaction.require"
  /** Spark's replay skips events whose class it does not know, so the log stays readable. */
  private[redaction] val WithheldEvent =
    """{"Event":"io.sparkconfig.redaction.WithheldEvent","Reason":"could not be searched for secrets"}"""

  private val log = LoggerFactory.getLogger(classOf[EventLogListener])

  private def install(conf: SparkConf): Unit =
    if (conf.getBoolean("spark.eventLog.enabled", defaultValue = false)) {
      val problem =
        try RedactionAccess.context() match {
          case None => Some("no SparkContext is being started")
          case Some(sc) if RedactionAccess.redactEventLog(sc, event) => None
          case Some(_) => Some("this platform writes its event log with a class of its own")
        } catch {
          case fault @ (NonFatal(_) | _: LinkageError) => Some(s"${fault.getClass.getName}: ${fault.getMessage}")
        }
      problem.foreach { why =>
        val message = s"the event log (spark.eventLog.enabled=true) cannot be redacted: $why"
        if (conf.getBoolean(RequireKey, defaultValue = true))
          throw new IllegalStateException(s"$message. Turn the event log off, or set $RequireKey=false to go on without its redaction.")
        log.warn(s"$message; going on since $RequireKey=false")
      }
    }

  private[redaction] def event(json: String): String = {
    val redacted = Redactor.redactJson(json)
    if (redacted eq Redactor.Withheld) WithheldEvent else redacted
  }
}
