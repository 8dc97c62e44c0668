package io.sparkconfig.agent

import java.io.File
import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode
import io.sparkconfig.core.{
  BuildInfo,
  Expression,
  Json,
  NamedConnection,
  NamedConnections,
  PolicyStart,
  RedactionSettings,
  Snapshot,
  Tokens
}
import io.sparkconfig.files.{FileSettings, LocalFiles}
import io.sparkconfig.redaction.engine.Redactor
import org.apache.spark.SparkConf

/** Settings that the side process has read and checked, as far as the shim needs them. */
final case class AgentSettings(
    pollIntervalMs: Long,
    staleExpiryMs: Long,
    rpcInsecure: Boolean,
    reloadAction: String,
    workerAccess: Boolean,
    resolvePrefixes: Map[String, Seq[String]],
    redaction: RedactionSettings)

/** What the side process found in the confs. */
final case class ConfAnswer(
    snapshot: Snapshot,
    expressions: Map[String, Expression],
    inPlace: Set[String],
    problems: Seq[String],
    policy: Option[PolicyStart],
    connections: Seq[NamedConnection],
    dropped: Seq[String])

/**
 * What happened while the driver waited.
 *
 * @param snapshot the newest generation, None if it is the known one
 * @param audit records for the logger that the operator named
 */
final case class Change(snapshot: Option[Snapshot], audit: Seq[String])

/**
 * What the side process answers to a use.
 *
 * @param snapshot the newest generation
 * @param texts ids of those that hold no reference which a provider answers: they are their own values
 */
private[sparkconfig] final case class Resolved(snapshot: Snapshot, texts: Set[String])

/** The shim's questions to the brain, typed; JSON and process handling stay below. */
private[sparkconfig] final class AgentClient(supervisor: Supervisor, start: JsonNode) {
  @volatile private var parsed: Option[AgentSettings] = None
  @volatile private var announced: Option[String] = None

  /** Where this application's machines put their files; known after [[resolveConfs]]. */
  @volatile var files: Option[FileSettings] = None

  /** Known after [[resolveConfs]]. */
  def settings: AgentSettings = parsed.getOrElse(AgentClient.Defaults)

  def pid: Option[Long] = supervisor.pid

  def restartCount: Int = supervisor.restartCount

  /**
   * Waits until the side process listens, configures the brain from the confs and resolves every reference in them.
   *
   * @throws io.sparkconfig.core.SparkConfigException no interpreter has the package, or its version is another one
   */
  def resolveConfs(): ConfAnswer = {
    supervisor.start()
    val answer = supervisor.call("start", start)
    val given = answer.get("settings")
    files = Some(FileSettings.of(
      Option(given.path("files_directory").textValue),
      Tokens.hex(),
      given.path("files_keep_ms").asLong))
    files.foreach(LocalFiles.open)
    parsed = Some(AgentSettings(
      given.get("poll_interval_ms").asLong,
      given.get("stale_expiry_ms").asLong,
      given.get("rpc_insecure").asBoolean,
      given.get("reload_action").asText,
      given.get("worker_access").asBoolean,
      Json.fields(given.get("resolve_prefixes")).map { case (prefix, packages) =>
        prefix -> Json.texts(packages)
      }.toMap,
      RedactionSettings(given.get("redaction_require").asBoolean, given.get("redaction_keys").asText)))
    val expressions = Json.fields(answer.get("confs")).map { case (key, node) =>
      key -> Expression.ofConf(key, node.get("text").asText)
    }.toMap
    ConfAnswer(
      snapshotOf(answer, Snapshot.Empty),
      expressions,
      Json.texts(answer.get("inplace")).toSet,
      Json.texts(answer.get("problems")),
      PolicyStart.fromJson(answer.get("policy")),
      NamedConnections.fromJson(answer.get("connections")),
      Json.texts(answer.get("dropped")))
  }

  /**
   * Takes expressions into the snapshot and reads every path again that is due.
   *
   * @param scope who asks: `application`, `worker`, `executor`, or None for a point of use
   * @param known a generation that this process holds: what differs from it travels
   * @param fresh whether their stores are read now, due or not
   * @param patient whether to wait for a process that is being started again
   * @throws io.sparkconfig.core.SparkConfigException if one of these expressions cannot be resolved
   */
  def resolve(
      expressions: Iterable[Expression],
      scope: Option[String],
      known: Snapshot,
      fresh: Boolean,
      patient: Boolean): Resolved = {
    val request = about(known)
    val items = request.putArray("expressions")
    expressions.foreach(expression => AgentClient.write(items.addObject(), expression))
    scope.foreach(request.put("scope", _))
    request.put("fresh", fresh)
    val answer = supervisor.call("resolve", request, patient)
    Resolved(snapshotOf(answer, known), Json.texts(answer.path("texts")).toSet)
  }

  /**
   * Asks the policies (`sparkconfig.agent.policy_calls`).
   *
   * @throws io.sparkconfig.core.SparkConfigException the question has no answer: refuse
   */
  def check(question: JsonNode): JsonNode = supervisor.call("check", question)

  /** Waits for a generation newer than `known`, and says what was used since the last time. */
  def awaitChange(known: Snapshot, used: Iterable[String], waitMs: Int): Change = {
    val request = about(known)
    val ids = request.putArray("used")
    used.foreach(id => ids.add(id))
    request.put("generation", known.generation)
    request.put("wait_ms", waitMs)
    val answer = supervisor.longCall("await_change", request, waitMs)
    Change(
      if (answer.hasNonNull("snapshot")) Some(snapshotOf(answer, known)) else None,
      Json.texts(answer.get("audit")))
  }

  /** Reads every path again, also what is not due. */
  def refresh(known: Snapshot): Snapshot = snapshotOf(supervisor.call("refresh", about(known)), known)

  /**
   * Asks the stores of expressions in use whose values were refused.
   *
   * @param ids of expressions
   * @param known as in [[resolve]]
   * @return the newest generation, and after how many milliseconds asking again reads what was read a moment ago;
   *         0 if all was read
   */
  def renew(ids: Iterable[String], known: Snapshot): (Snapshot, Long) = {
    val request = about(known)
    val wanted = request.putArray("ids")
    ids.foreach(id => wanted.add(id))
    val answer = supervisor.call("renew", request)
    (snapshotOf(answer, known), answer.get("wait_ms").asLong)
  }

  /** Why a conf with this text that a session sets would be used as text; None: it would not. */
  def problem(key: String, text: String): Option[String] = {
    val request = Json.obj()
    request.put("key", key)
    request.put("text", text)
    Option(supervisor.call("problem", request).path("problem").textValue)
  }

  /** The state of providers and references: names and times, no values. */
  def status(): JsonNode = supervisor.call("status", Json.obj()).get("status")

  /** Tells the application's id, under which `sparkconfig refresh` finds it. */
  def announce(applicationId: String): Unit = {
    announced = Some(applicationId)
    supervisor.call("announce", announcement(applicationId))
  }

  private def announcement(applicationId: String): JsonNode = {
    val request = Json.obj()
    request.put("application_id", applicationId)
    request
  }

  /**
   * After a restart of the side process: the generation that it must exceed, and the expressions in use, for the number
   * of the connection to it.
   */
  def onRestart(known: Long => (Snapshot, Iterable[Expression])): Unit = supervisor.onRestart { (connection, call) =>
    val (snapshot, expressions) = known(connection)
    val again = start.deepCopy[ObjectNode]()
    again.put("generation", snapshot.generation)
    val items = again.putArray("known")
    expressions.foreach(expression => AgentClient.write(items.addObject(), expression))
    again.set[JsonNode]("held", snapshot.toJson)
    call("start", again)
    announced.foreach(id => call("announce", announcement(id)))
  }

  def close(): Unit = {
    supervisor.close()
    LocalFiles.close()
  }

  private def about(known: Snapshot): ObjectNode = {
    val request = Json.obj()
    request.put("known", known.generation)
    request
  }

  /**
   * A generation counts in this process once its files are there.
   *
   * @param known what the answer may describe by its differences
   */
  private def snapshotOf(answer: JsonNode, known: Snapshot): Snapshot = {
    val news = answer.get("snapshot")
    val read = if (!news.has("since")) LocalFiles.place(Snapshot.fromJson(news)) else known.changedBy(news)
    read.copy(connection = answer.get(Supervisor.Number).asLong)
  }
}

private[sparkconfig] object AgentClient {
  private val Defaults = AgentSettings(
    5000L,
    3600000L,
    rpcInsecure = false,
    "refresh",
    workerAccess = false,
    Map.empty,
    RedactionSettings(require = true, ""))
  private val StartTimeoutMs = 30000L
  private val CallTimeoutMs = 60000

  /** An expression as the side process reads it. */
  def write(item: ObjectNode, expression: Expression): Unit = {
    item.put("id", expression.id)
    item.put("text", expression.text)
    if (expression.siblings.nonEmpty) Json.putMap(item, "siblings", expression.siblings)
  }

  /**
   * Starts the side process that serves this conf, without waiting for it.
   *
   * @param left confs that an application before this one has left: what of them has no value is dropped
   * @param onRequest what the process asks of this JVM
   */
  def launch(conf: SparkConf, left: Set[String], onRequest: (String, JsonNode) => JsonNode): AgentClient = {
    val environment = System.getenv().asScala.toMap
    val operatorFile = OperatorFile.locate(environment)
    val operator = operatorFile.map(OperatorFile.launch)
    val pythons = PythonFinder.candidates(
      operator.map(_.python),
      conf.getOption(_),
      environment)
    val specs = operator match {
      case Some(trusted) => pythons.map { python =>
          LaunchSpec(
            Seq(python, "-I", "-S", "-c", text("trusted_start.py")),
            Some(environment.filter { case (name, _) => trusted.keeps(name) } + ("PATH" -> SystemPath)),
            StartTimeoutMs)
        }
      case None =>
        val start = text("start.py")
        // Any installed package before the jar's own: it has what stores need.
        (Nil +: CarriedPython.path(environment).toSeq).flatMap { carried =>
          pythons.map(python => LaunchSpec(Seq(python, "-c", start) ++ carried, None, StartTimeoutMs))
        }
    }
    val supervisor = new Supervisor(specs, CallTimeoutMs, Redactor.redact, onRequest)
    supervisor.launch()
    new AgentClient(supervisor, request(conf, left, operatorFile.map(_.toFile)))
  }

  /** For clients that run programs. The home directory is the user database's, without a variable. */
  private val SystemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

  /** What Python runs first; beside an operator's file it checks the packages before it imports one. */
  private def text(name: String): String = {
    val stream = getClass.getResourceAsStream(name)
    try new String(stream.readAllBytes(), UTF_8)
    finally stream.close()
  }

  private def request(conf: SparkConf, left: Set[String], operatorFile: Option[File]): JsonNode = {
    val node = Json.obj()
    node.put("jar_version", BuildInfo.version)
    node.put("spark_version", org.apache.spark.SPARK_VERSION)
    node.put("generation", 0L)
    node.put("file_key", Tokens.hex())
    operatorFile.foreach(file => node.put("operator_file", file.getPath))
    Json.putMap(node, "confs", conf.getAll)
    val leftovers = node.putArray("left")
    left.foreach(key => leftovers.add(key))
    val parent = node.putArray("parent")
    PythonFinder.parentCommand().foreach(parent.add(_))
    val properties = System.getProperties
    Json.putMap(
      node,
      "system_properties",
      properties.stringPropertyNames().asScala.map(name => name -> properties.getProperty(name)))
    node
  }
}
