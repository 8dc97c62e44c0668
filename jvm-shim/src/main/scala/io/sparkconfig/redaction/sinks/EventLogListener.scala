package io.sparkconfig.redaction.sinks

import scala.util.control.NonFatal

import com.fasterxml.jackson.core.{JsonFactory, JsonFactoryBuilder, StreamReadConstraints}
import io.sparkconfig.core.ConfLists
import io.sparkconfig.redaction.engine.{Client, Reader, Redactor}
import org.apache.spark.scheduler.{RedactingQueues, SparkListener, SparkListenerEvent}
import org.apache.spark.sparkconfig.RedactionAccess
import org.apache.spark.{SparkConf, SparkContext}
import org.slf4j.LoggerFactory

/**
 * Named in `spark.extraListeners`: its constructor runs at the one moment when the event logger stands and no event
 * was sent yet. There it puts redaction before the event log and before the listeners of others. It listens to nothing.
 *
 * @throws IllegalStateException if there is an event log and it cannot be redacted, or if the listeners cannot be
 *                               reached, unless `spark.config.redaction.require=false`
 */
class EventLogListener(conf: SparkConf) extends SparkListener {
  EventLogListener.hook(conf, this)
}

object EventLogListener extends Sink {
  override def name: String = "event log, listeners"

  override def install: PartialFunction[Stage, Unit] = {
    case Stage.Confs(conf) => ConfLists.add(conf, "spark.extraListeners", classOf[EventLogListener].getName)
  }

  val RequireKey = "spark.config.redaction.require"

  /** Spark's replay skips events whose class it does not know, so the log stays readable. */
  private[redaction] val WithheldEvent =
    """{"Event":"io.sparkconfig.redaction.WithheldEvent","Reason":"could not be searched for secrets"}"""

  private val log = LoggerFactory.getLogger(classOf[EventLogListener])

  private def hook(conf: SparkConf, keeper: SparkListener): Unit = {
    if (conf.getBoolean("spark.eventLog.enabled", defaultValue = false)) {
      attempt(conf, "the event log (spark.eventLog.enabled=true)", "Turn the event log off, or set") {
        RedactionAccess.context() match {
          case None => Some("no SparkContext is being started")
          case Some(sc) if RedactionAccess.redactEventLog(sc, event) => None
          case Some(_) => Some("this platform writes its event log with a class of its own")
        }
      }
    }
    attempt(conf, "what other listeners get", "Set") {
      RedactionAccess.context().foreach(RedactionAccess.redactListeners(_, "io.sparkconfig.", keeper, events(conf)))
      None
    }
  }

  /** A server of Connect passes the events of streams on to its clients. */
  private def events(conf: SparkConf): (String, SparkListenerEvent) => SparkListenerEvent = {
    val ofAnybody = new Events(Reader.Anybody)
    val ofStreams = if (ConnectServer.serves(conf)) new Events(Client.Unknown) else ofAnybody
    (queue, event) => (if (queue == RedactingQueues.Streams) ofStreams else ofAnybody).redact(event)
  }

  private def attempt(conf: SparkConf, sink: String, advice: String)(hook: => Option[String]): Unit = {
    val problem =
      try hook
      catch { case fault @ (NonFatal(_) | _: LinkageError) => Some(s"${fault.getClass.getName}: ${fault.getMessage}") }
    problem.foreach { why =>
      val message = s"$sink cannot be redacted: $why"
      if (conf.getBoolean(RequireKey, defaultValue = true))
        throw new IllegalStateException(s"$message. $advice $RequireKey=false to go on without its redaction.")
      log.warn(s"$message; going on since $RequireKey=false")
    }
  }

  private[redaction] def event(json: String): String = {
    val redacted = Redactor.redactJson(json)
    if (redacted eq json) json
    else if ((redacted eq Redactor.Withheld) || !isWhole(redacted)) WithheldEvent
    else redacted
  }

  /** A value may hold JSON's own signs; one line that is not JSON would make the whole log unreadable. */
  private def isWhole(json: String): Boolean =
    try {
      val parser = Parsers.createParser(json)
      try { while (parser.nextToken() != null) () }
      finally parser.close()
      true
    } catch { case fault @ (NonFatal(_) | _: OutOfMemoryError) => Redactor.failed(fault); false }

  // Without limits: what Spark could write must not be lost for its size.
  private lazy val Parsers: JsonFactory = new JsonFactoryBuilder().streamReadConstraints(
    StreamReadConstraints.builder().maxStringLength(Int.MaxValue).maxNestingDepth(Int.MaxValue).build()).build()
}
