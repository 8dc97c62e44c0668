package io.sparkconfig.driver

import java.util.{HashMap => JHashMap, Map => JMap}

import com.codahale.metrics.MetricRegistry
import io.sparkconfig.agent.AgentClient
import io.sparkconfig.bindings.Bindings
import io.sparkconfig.core.{
  ConfValues,
  Expression,
  Json,
  NamedConnections,
  Readers,
  SharedJvm,
  SparkConfigException,
  Values
}
import io.sparkconfig.executor.{ExecutorService, ExecutorSide, ExecutorState}
import io.sparkconfig.policy.doors.{Doors, ServerConfs}
import io.sparkconfig.policy.{Grants, OpenPlaces, PolicyClient, SharedFiles}
import io.sparkconfig.redaction.engine.Redactor
import io.sparkconfig.redaction.{LiteralKeys, RedactionSinks}
import io.sparkconfig.ui.QueryRestartEvent
import org.apache.spark.scheduler.{RunningJobs, SparkListener, SparkListenerExecutorRemoved}
import org.apache.spark.sparkconfig.access.ConnectorCode
import org.apache.spark.sparkconfig.{ReferenceHadoopConf, ServedFiles, SparkAccess, TaskProperties}
import org.apache.spark.sql.sparkconfig.InPlaceConfs
import org.apache.spark.{SparkConf, SparkContext}
import org.slf4j.LoggerFactory

/**
 * sparkconfig in one Spark application: everything that [[DriverSide]] starts, and ends with it.
 *
 * The order in [[Application.start]] matters. All checks come first and report together; values reach the conf
 * only when nothing can fail any more; hooks are appended last, for Spark reads their confs after plugins start.
 */
private[sparkconfig] final class Application private (
    sc: SparkContext,
    val agent: AgentClient,
    val values: DriverValues,
    given: Map[String, String],
    confs: Iterable[String]) {

  private val service = new ExecutorService(sc, values, values.renewIds)
  private val extras = new Extras(agent, values)

  /** Where users' work opens files. While Spark starts, there is none. */
  private var places = Option.empty[OpenPlaces]

  /** Non-secret settings for executors; Spark writes them in clear into its event log. */
  def executorSettings: JMap[String, String] = {
    val settings = new JHashMap[String, String]()
    settings.put(ExecutorSide.PollKey, agent.settings.pollIntervalMs.toString)
    settings.put(ExecutorSide.WorkerKey, agent.settings.workerAccess.toString)
    ExecutorSide.putConnectors(settings, agent.settings.resolvePrefixes)
    settings.put(ExecutorSide.PoliciesKey, PolicyClient.running.isDefined.toString)
    settings.put(ExecutorSide.StatementsKey, PolicyClient.running.exists(_.evaluatesStatements).toString)
    ExecutorSide.putReferences(settings, confs)
    ExecutorSide.putPaths(settings, PolicyClient.running.flatMap(_.paths))
    agent.files.foreach(files => ExecutorSide.putFiles(settings, files))
    settings
  }

  /** What can be told of this application. */
  val state = new ApplicationState(agent, values, service, sc.isLocal)

  /** Called when the scheduler stands: from now on broadcasts work, and the application has its id. */
  def ready(applicationId: String, metrics: MetricRegistry): Unit = {
    service.ready()
    places.foreach(SharedFiles.close)
    extras.begin(sc, applicationId, metrics, state)
    sc.addSparkListener(new SparkListener {
      override def onExecutorRemoved(event: SparkListenerExecutorRemoved): Unit = service.forget(event.executorId)
    })
  }

  /** Tells Spark's listeners, the event log and the page that a managed query was started again. */
  def queryRestarted(event: QueryRestartEvent): Unit = {
    state.restarted(event)
    SparkAccess.post(sc, event)
  }

  /** Has executors mask values that no snapshot holds. */
  def mask(secrets: Seq[String]): Unit = {
    learn(secrets)
    service.publish(values.snapshot)
  }

  /** Answers an executor. Runs on Spark's one dispatcher thread: memory only, no waiting. */
  def answer(message: Any): AnyRef = service.answer(message)

  def close(): Unit = {
    Application.forget(this)
    Leftovers.keep(given)
    extras.close()
    PolicyClient.close()
    SharedFiles.release()
    InPlaceConfs.release()
    Bindings.release()
    NamedConnections.release()
    Values.uninstall(values)
    values.close()
    service.close()
    agent.close()
  }

  private def begin(): Unit = {
    val state = if (sc.isLocal) None else Some(ExecutorState.Property -> ((_: String) => service.state.text))
    val grants = PolicyClient.running.map(policies => Grants.Property -> policies.forTasks _)
    TaskProperties.install(sc, (state ++ grants).toMap)
    values.onChange(learn) { (snapshot, changed) =>
      if (changed && agent.settings.reloadAction != "none") {
        ReferenceHadoopConf.update(sc, text => snapshot.get(Expression(text)))
      }
      service.publish(snapshot)
      if (changed) {
        tellTasks()
        extras.publish(snapshot)
      }
    }
    values.watch()
  }

  private def learn(secrets: Iterable[String]): Unit = {
    service.learn(secrets)
    tellTasks()
  }

  /** What one task of a running job learned, the tasks of its next stages may be handed. */
  private def tellTasks(): Unit =
    if (!sc.isLocal) RunningJobs.setProperty(sc, ExecutorState.Property, service.state.text)
}

private[sparkconfig] object Application {
  private val log = LoggerFactory.getLogger(classOf[Application])

  /** The side process's question while a caller waits for executors (`sparkconfig.agent.application`). */
  private val ExecutorsRequest = "executors"

  @volatile private var current: Option[Application] = None

  /** The application that runs in this JVM. */
  def running: Option[Application] = current

  /** What an application before this one has left, and that cannot be resolved any more. */
  private def drop(sc: SparkContext, conf: SparkConf, key: String): Unit = {
    conf.remove(key)
    HadoopReferences.hadoopKeyOf(key).foreach(sc.hadoopConfiguration.unset)
  }

  private def forget(application: Application): Unit = synchronized {
    if (current.exists(_ eq application)) current = None
  }

  /**
   * @throws SparkConfigException one message with every problem that was found, each with its key and what to do
   */
  def start(sc: SparkContext): Application = {
    val conf = SparkAccess.conf(sc)
    val requests = JvmRequests.answer(() => sc.hadoopConfiguration)
    val left = Leftovers.in(conf)
    Leftovers.dropProviders(conf, left)
    val client = AgentClient.launch(
      conf,
      left,
      (name, request) =>
        if (name == ExecutorsRequest) running.map(_.state.reachedJson).getOrElse(Json.obj())
        else requests(name, request))
    try {
      val missing = RedactionSinks.install(conf)
      val given = conf.getAll.toMap
      val plan = StartPlan.check(conf, client)
      plan.dropped.foreach(drop(sc, conf, _))
      RedactionSinks.require(conf, missing, client.settings.redaction)
      if (!client.settings.rpcInsecure) ServedFiles.guard(sc)
      Redactor.register(plan.snapshot.secretValues, plan.snapshot.generation)
      plan.policy.foreach(Defaults.put(sc, conf, _))
      val values = new DriverValues(client, plan.snapshot)
      val hadoop = HadoopReferences.of(sc.hadoopConfiguration, plan)
      val application = new Application(sc, client, values, given, plan.expressions.keys)
      Values.install(values)
      NamedConnections.hold(plan.connections)
      val literals = plan.connections.flatMap(each => LiteralKeys.valuesOf(each.options))
      Redactor.register(literals)
      val confs = ConfValues(
        (key, text) => plan.value(key, text, values.snapshot),
        new ConnectorCode(client.settings.resolvePrefixes),
        (key, text) => { Readers.check(key, text, client.problem); hadoop.of(key, text, copy = true): Unit },
        hadoop,
        hadoop.atStart)
      Bindings.start(sc, confs)
      Hooks.append(conf, plan.inPlace)
      plan.policy.foreach { policy =>
        PolicyClient.open(new PolicyClient(
          client.check,
          policy,
          given,
          conf.getAll.toMap,
          ServerConfs.read(),
          application.service.fingerprint))
      }
      if (PolicyClient.running.exists(_.evaluatesStatements)) SharedJvm.prepare()
      application.places =
        plan.policy.flatMap(_.paths).map(SharedFiles.install(_, conf.getAll.toMap, sc.hadoopConfiguration))
      Doors.open(sc)
      InPlaceConfs.hold(plan.inPlace.keys)
      application.begin()
      if (literals.nonEmpty) application.mask(literals)
      synchronized { current = Some(application) }
      val count = plan.snapshot.values.size
      log.info(
        "sparkconfig {}: {} in Spark confs, side process {}",
        io.sparkconfig.core.BuildInfo.version,
        if (count == 1) "1 reference" else s"$count references",
        client.pid.getOrElse(-1L).toString)
      val asked = if (PolicyClient.running.isDefined) Doors.names else "nothing, since there are none"
      log.info(s"references become values in: ${Bindings.names}; policies are asked about: $asked")
      application
    } catch {
      case e: Throwable =>
        InPlaceConfs.release()
        Bindings.release()
        SharedFiles.release()
        client.close()
        e match {
          case known: SparkConfigException => throw known
          case shape: IllegalStateException => throw new SparkConfigException(
              s"sparkconfig does not know this Spark version's internals: ${shape.getMessage}. " +
                "docs/install.md says which versions are supported.")
          case other => throw other
        }
    }
  }
}
