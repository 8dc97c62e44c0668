package org.apache.spark.probe

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths, StandardOpenOption}

import org.apache.spark.SparkConf
import org.apache.spark.scheduler.{
  SparkListener,
  SparkListenerApplicationEnd,
  SparkListenerEvent,
  SparkListenerInterface
}
import org.apache.spark.sql.execution.QueryExecution
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd
import org.apache.spark.sql.streaming.StreamingQueryListener
import org.apache.spark.sql.util.QueryExecutionListener
import org.apache.spark.util.{JsonProtocol, Utils}

/** Listeners as other products bring them: they write down all that they are told. */
private object Probe {
  def write(head: String, text: String): Unit = synchronized {
    val line = (head + " " + text.replace("\n", "\\n") + "\n").getBytes(UTF_8)
    Files.write(Paths.get(System.getenv("PROBE_FILE")), line, StandardOpenOption.CREATE, StandardOpenOption.APPEND)
  }
}

class AllEvents(conf: SparkConf) extends SparkFirehose {
  override def onEvent(event: SparkListenerEvent): Unit = {
    Probe.write("EVENT", JsonProtocol.sparkEventToJsonString(event))
    event match {
      case end: SparkListenerSQLExecutionEnd =>
        val failure = end.getClass.getDeclaredField("executionFailure")
        failure.setAccessible(true)
        failure.get(end).asInstanceOf[Option[Throwable]].foreach(error =>
          Probe.write("FAILURE", Utils.exceptionString(error)))
      case _ =>
    }
  }
}

abstract class SparkFirehose extends org.apache.spark.SparkFirehoseListener with SparkListenerInterface

/** Keeps those behind it from hearing of the end until the plugin has ended; on Spark 3.5 that ends only after them. */
class SlowEnd extends SparkListener {
  override def onApplicationEnd(end: SparkListenerApplicationEnd): Unit =
    Thread.getAllStackTraces.keySet.toArray(Array.empty[Thread]).filter(
      _.getName.startsWith("sparkconfig-journal")).foreach(
      _.join(2000))
}

class Queries extends QueryExecutionListener {
  override def onSuccess(name: String, query: QueryExecution, nanos: Long): Unit = Probe.write("SUCCESS", name)
  override def onFailure(name: String, query: QueryExecution, error: Exception): Unit =
    Probe.write("QUERY", Utils.exceptionString(error))
}

class Streams extends StreamingQueryListener {
  import StreamingQueryListener._
  override def onQueryStarted(event: QueryStartedEvent): Unit = Probe.write("STARTED", String.valueOf(event.name))
  override def onQueryProgress(event: QueryProgressEvent): Unit = Probe.write("PROGRESS", event.progress.json)
  override def onQueryTerminated(event: QueryTerminatedEvent): Unit =
    Probe.write("TERMINATED", event.exception.getOrElse("without an error"))
}
