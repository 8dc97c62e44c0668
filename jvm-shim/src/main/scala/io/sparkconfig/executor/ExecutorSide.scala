package io.sparkconfig.executor

import java.util.{Map => JMap}

import scala.collection.JavaConverters._

import io.sparkconfig.core.{Expression, SharedJvm, Snapshot, Used, Values}
import io.sparkconfig.executor.workers.WorkerServer
import io.sparkconfig.files.{FileSettings, LocalFiles}
import io.sparkconfig.policy.SharedFiles
import io.sparkconfig.redaction.RedactionSinks
import io.sparkconfig.redaction.engine.Redactor
import org.apache.spark.TaskContext
import org.apache.spark.api.plugin.{ExecutorPlugin, PluginContext}
import org.apache.spark.sparkconfig.access.ConnectorCode
import org.apache.spark.sparkconfig.{ReferenceConf, SparkAccess}
import org.slf4j.LoggerFactory

/**
 * The executor's half: holds the driver's newest snapshot and makes it the source of this process's values.
 *
 * Nothing here throws out of `init`: an executor whose plugin fails exits, and the job would wait for ever. What
 * needs a value that could not be fetched fails by itself, with a message. The one exception is a shared server's
 * executor whose class path has a reader of XML that follows what a user's document names.
 */
private[sparkconfig] class ExecutorSide extends ExecutorPlugin {
  private val log = LoggerFactory.getLogger(classOf[ExecutorSide])
  private var values: Option[ExecutorValues] = None
  private var workers: Option[WorkerServer] = None

  override def init(context: PluginContext, extra: JMap[String, String]): Unit =
    // In local mode executor and driver are one process, and the driver's half is there already.
    if (context.executorID() != "driver") {
      RedactionSinks.installQuietly(context.conf())
      val isShared = extra.get(ExecutorSide.StatementsKey) == "true"
      if (isShared) SharedJvm.prepare()
      ExecutorSide.paths(extra).foreach { paths =>
        val confs = context.conf().getAll.toMap
        SharedFiles.close(SharedFiles.install(paths, confs, SparkAccess.hadoop(context.conf())))
      }
      ExecutorSide.files(extra).foreach(LocalFiles.open)
      val policies = extra.get(ExecutorSide.PoliciesKey) == "true"
      val started = new ExecutorValues(context, pollMs(extra), policies, isShared)
      values = Some(started)
      if (extra.get(ExecutorSide.WorkerKey) == "true")
        serveWorkers(started, policies)
      else WorkerServer.none()
      ExecutorMetrics.register(context.metricRegistry(), started)
      Values.install(started)
      started.start()
      val references = ExecutorSide.references(extra)
      try {
        ReferenceConf.install(
          context.conf(),
          (key, text) =>
            if (key.startsWith("spark.config.")) None
            else {
              val expression = Expression.ofConf(key, text)
              val value = started.snapshot.get(expression)
              if (value.isEmpty && references(key)) throw Used.noValue(expression)
              value
            },
          ExecutorSide.connectors(extra))
      } catch {
        case e: IllegalStateException => log.error("references in Spark confs stay unresolved here: {}", e.getMessage)
      }
    }

  /** Before any code of the task: what it holds, or is about to use, is masked here. */
  override def onTaskStart(): Unit = {
    WorkerServer.ready()
    for {
      source <- values
      task <- Option(TaskContext.get())
      _ = source.grants.begin(task)
      text <- Option(task.getLocalProperty(ExecutorState.Property))
      wanted <- ExecutorState.parse(text)
    }
      try source.reach(wanted)
      catch { case _: InterruptedException => Thread.currentThread().interrupt() } // the task was killed
  }

  /** Python workers are a convenience: an executor without them still computes. */
  private def serveWorkers(source: ExecutorValues, policies: Boolean): Unit =
    try {
      val server = new WorkerServer(source, policies)
      source.onChange(server.publish)
      server.start()
      workers = Some(server)
    } catch {
      case e: Exception => log.error(s"Python workers cannot ask for values here: ${Redactor.redact(e.toString)}")
    }

  override def shutdown(): Unit = values.foreach { source =>
    workers.foreach(_.close())
    Values.uninstall(source)
    source.close()
    LocalFiles.close()
  }

  private def pollMs(extra: JMap[String, String]): Long =
    Option(extra.get(ExecutorSide.PollKey)).map(_.toLong).getOrElse(ExecutorSide.DefaultPollMs)
}

private[sparkconfig] object ExecutorSide {

  /** What the driver tells executors through the plugin's own conf, which is public: no secrets here. */
  val PollKey = "poll.interval.ms"
  val WorkerKey = "worker.access"
  val PoliciesKey = "worker.policies"

  /** Whether policies judge statements: the application serves people who run no code in it. */
  val StatementsKey = "policies.statements"
  val DefaultPollMs = 5000L
  private val ConnectorPrefix = "connector."
  private val ReferencesKey = "references"
  private val PathsKey = "policies.paths"
  private val FilesKey = "files.directory"
  private val ChosenKey = "files.chosen"
  private val KeepKey = "files.keep.ms"

  def putConnectors(settings: JMap[String, String], packages: Map[String, Seq[String]]): Unit =
    packages.foreach { case (prefix, known) => settings.put(ConnectorPrefix + prefix, known.mkString("|")) }

  private def connectors(settings: JMap[String, String]): ConnectorCode =
    new ConnectorCode(settings.asScala.collect {
      case (key, known) if key.startsWith(ConnectorPrefix) => key.stripPrefix(ConnectorPrefix) -> known.split('|').toSeq
    }.toMap)

  /** The paths that anybody may name on a shared server. */
  def putPaths(settings: JMap[String, String], paths: Option[Seq[String]]): Unit =
    paths.foreach(all => settings.put(PathsKey, all.mkString("\n")))

  private def paths(settings: JMap[String, String]): Option[Seq[String]] =
    Option(settings.get(PathsKey)).map(_.split('\n').toSeq.filter(_.nonEmpty))

  /** The keys of confs that hold references: reading one is a value or an error. */
  def putReferences(settings: JMap[String, String], keys: Iterable[String]): Unit =
    settings.put(ReferencesKey, keys.toSeq.sorted.mkString("\n"))

  private def references(settings: JMap[String, String]): Set[String] =
    Option(settings.get(ReferencesKey)).map(_.split('\n').toSet).getOrElse(Set.empty)

  def putFiles(settings: JMap[String, String], files: FileSettings): Unit = {
    settings.put(FilesKey, files.directory)
    settings.put(ChosenKey, files.chosen.toString)
    settings.put(KeepKey, files.keepMs.toString)
  }

  private def files(settings: JMap[String, String]): Option[FileSettings] =
    Option(settings.get(FilesKey)).map(directory =>
      FileSettings(directory, settings.get(ChosenKey) == "true", settings.get(KeepKey).toLong))
}
