package io.sparkconfig.agent

import java.util.concurrent.atomic.AtomicLong

import scala.collection.mutable

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode
import io.sparkconfig.core.{AgentUnavailableException, BuildInfo, Json, SparkConfigException, Threads}
import org.apache.spark.sparkconfig.SparkAccess
import org.slf4j.LoggerFactory
import py4j.{Py4JException, Py4JNetworkException}

/**
 * Keeps one side process running and calls it.
 *
 * A process that died, or that does not answer before the deadline, is ended and started again beside the callers, at
 * most once per `BackoffMs` doubling up to a cap; they get AgentUnavailableException meanwhile and fall back to their
 * last snapshot. After each start `restore` runs, which tells the new process what the old one knew.
 *
 * @param specs how to start it, best first; the first that works is kept
 * @param callTimeoutMs deadline of one ordinary call
 * @param onRequest does what the side process asks for: name and request to answer; must not call the process
 */
private[sparkconfig] final class Supervisor(
    specs: Seq[LaunchSpec],
    callTimeoutMs: Int,
    redact: String => String,
    onRequest: (String, JsonNode) => JsonNode) {

  import Supervisor._

  private val log = LoggerFactory.getLogger(classOf[Supervisor])
  private val lock = new Object
  @volatile private var chosen: Option[LaunchSpec] = None
  private var booting: Option[SideProcess.Launched] = None
  @volatile private var current: Option[Connection] = None
  private var nextAttemptAt = 0L
  private var backoffMs = FirstBackoffMs
  private var restarts = 0
  private var restarting = false
  @volatile private var closed = false
  private val heartbeat = Threads.daemon("sparkconfig-heartbeat")(beat())
  @volatile private var restore: (Long, Caller) => Unit = (_: Long, _: Caller) => ()
  private val connections = new AtomicLong

  /** How often the process was started again. */
  def restartCount: Int = lock.synchronized(restarts)

  /** The process id, for the operator's eyes and for tests that kill it. */
  def pid: Option[Long] = lock.synchronized(current.map(_.process.pid))

  /** What to tell a process that was started again; gets the number of the connection to it. */
  def onRestart(action: (Long, Caller) => Unit): Unit = restore = action

  /** Starts the process of the best interpreter without waiting for it, so that it boots beside this JVM's work. */
  def launch(): Unit = {
    val launched =
      try specs.headOption.map(SideProcess.launch(_, redact))
      catch { case _: LaunchFailure => None } // [[start]] tries again and reports it
    lock.synchronized { booting = launched }
  }

  /** Starts the first process; fails with one message that lists every interpreter that was tried. */
  def start(): Unit = {
    val failures = mutable.LinkedHashMap.empty[String, String]
    val started = specs.iterator.flatMap { spec =>
      try {
        val connection = connect(spec, takeBooting().getOrElse(SideProcess.launch(spec, redact)))
        chosen = Some(spec)
        Some(connection)
      } catch { case e: LaunchFailure => failures(spec.command.head) = e.reason; None }
    }
    val first = started.take(1).toList.headOption
    lock.synchronized { current = first }
    if (closed) first.foreach(_.process.stop(0))
    else if (first.isDefined) heartbeat.start()
    else {
      val tried = failures.map { case (python, reason) => s"$python: $reason" }
      throw new SparkConfigException(
        "sparkconfig's side process cannot start. Tried:\n  - " + tried.mkString("\n  - ") +
          "\nInstall the package where one of these finds it (pip install sparkconfig-" + BuildInfo.version +
          "-py3-none-any.whl), or name the interpreter that has it in spark.config.agent.python.")
    }
  }

  private def takeBooting(): Option[SideProcess.Launched] = lock.synchronized {
    val found = booting
    booting = None
    found
  }

  /** Calls a method of the side process and returns its answer, whose `ok` is true, with [[Supervisor.Number]]. */
  def call(method: String, request: JsonNode): JsonNode = call(method, request, patient = true)

  /** @param patient whether to wait for a process that is being started again */
  def call(method: String, request: JsonNode, patient: Boolean): JsonNode = {
    val connection = live(if (patient) PatienceMs else 0L)
    connection.call(connection.endpoint, method, request)
  }

  /** Like [[call]], on a connection of its own that may stay without an answer for `waitMs`. */
  def longCall(method: String, request: JsonNode, waitMs: Int): JsonNode = {
    val connection = live(0L)
    connection.call(connection.withTimeout(waitMs + callTimeoutMs), method, request)
  }

  def close(): Unit = {
    closed = true
    heartbeat.interrupt()
    takeBooting().foreach(_.abandon())
    val running = lock.synchronized { val found = current; current = None; found }
    running.foreach(_.process.stop(StopGraceMs))
  }

  /**
   * Finds a process that is alive and does not answer (stopped, swapped out, deadlocked) without waiting for the
   * deadline of a real call; ending it also frees the calls that wait for it.
   */
  private def beat(): Unit = while (!closed) {
    try {
      Thread.sleep(HeartbeatMs)
      lock.synchronized(current).foreach(connection => connection.call(connection.pulse, "ping", Json.obj()))
    } catch {
      case _: InterruptedException => closed = true
      case _: SparkConfigException => () // it was ended, and starts again at the next call
    }
  }

  private def live(waitMs: Long): Connection = {
    val end = System.nanoTime() + waitMs * 1000000
    var dead = Option.empty[Connection]
    var running = Option.empty[Connection]
    lock.synchronized {
      var left = waitMs
      do {
        if (closed) throw shutDown()
        current.filterNot(_.process.isAlive).foreach { ended =>
          if (SparkAccess.ending) throw shutDown()
          dead = Some(ended)
          current = None
        }
        if (current.isEmpty) {
          beginRestart()
          left = (end - System.nanoTime()) / 1000000
          if (left > 0) lock.wait(math.min(left, RetryMs))
        }
      } while (current.isEmpty && left > 0)
      running = current
    }
    dead.foreach(ended =>
      log.warn("sparkconfig's side process {} has ended; the last snapshot stays in use", ended.process.pid))
    running.getOrElse(throw new AgentUnavailableException("sparkconfig's side process is being restarted"))
  }

  /** On a thread of its own: no use of a value waits for a process, or for a store that it reads. */
  private def beginRestart(): Unit = {
    val now = System.nanoTime() / 1000000
    if (!restarting && now >= nextAttemptAt) {
      restarting = true
      nextAttemptAt = now + backoffMs
      backoffMs = math.min(backoffMs * 2, MaxBackoffMs)
      Threads.daemon("sparkconfig-restart")(restart()).start()
    }
  }

  private def restart(): Unit = {
    val started =
      try chosen.map { spec =>
          val connection = connect(spec, SideProcess.launch(spec, redact))
          try restore(connection.number, (method, request) => connection.call(connection.endpoint, method, request))
          catch { case e: Exception => connection.process.stop(0); throw e }
          connection
        }
      catch {
        case e: LaunchFailure =>
          log.warn("sparkconfig's side process cannot be restarted: {}", e.reason)
          None
        case e: Exception =>
          if (!closed) log.warn("sparkconfig's side process cannot be restarted: {}", e.getClass.getName)
          None
      }
    val late = lock.synchronized {
      restarting = false
      if (!closed) started.foreach { connection =>
        current = Some(connection)
        restarts += 1
        backoffMs = FirstBackoffMs
      }
      lock.notifyAll()
      closed
    }
    if (late) started.foreach(_.process.stop(0))
    else started.foreach(connection =>
      log.warn("sparkconfig's side process was started again as {}", connection.process.pid))
  }

  private def connect(spec: LaunchSpec, launched: SideProcess.Launched): Connection = {
    val process = launched.hello()
    val version = process.hello.path("version").asText("unknown")
    if (version != BuildInfo.version) {
      process.stop(StopGraceMs)
      throw new SparkConfigException(
        s"The sparkconfig jar has version ${BuildInfo.version}, but the Python package of ${spec.command.head} has " +
          s"version $version. Install the same version of both: 'sparkconfig jar' prints the path of the package's " +
          "own jar, 'sparkconfig install' replaces one in Spark's jars directory.")
    }
    new Connection(process)
  }

  private def shutDown() = new AgentUnavailableException("sparkconfig was shut down with its Spark application")

  private def broken(connection: Connection, why: String): Nothing = {
    if (closed) throw shutDown()
    val ours = lock.synchronized {
      val found = current.exists(_ eq connection)
      if (found) current = None
      found
    }
    if (ours) {
      // What ends this JVM may end the side process first: no news.
      if (!SparkAccess.ending)
        log.warn("sparkconfig's side process {} does not answer ({}); ending it", connection.process.pid, why)
      connection.process.stop(0)
    }
    throw new AgentUnavailableException(s"sparkconfig's side process does not answer: $why")
  }

  private final class Connection(val process: SideProcess) {
    val number: Long = connections.incrementAndGet()
    val endpoint: PythonEndpoint = process.endpoint(callTimeoutMs)
    val pulse: PythonEndpoint = process.endpoint(PulseTimeoutMs)
    private var waiting: Option[PythonEndpoint] = None
    // From the first moment on: the call "start" may already need the JVM.
    private val requests = Threads.daemon("sparkconfig-jvm-requests")(serveRequests())
    requests.start()

    private def serveRequests(): Unit = {
      val asking = process.endpoint(RequestWaitMs + callTimeoutMs)
      var request = nextRequest()
      while (!closed && process.isAlive)
        try {
          val answer = Json.parse(asking.call("jvm_request", Json.write(request)))
          request = nextRequest()
          if (!answer.path("ok").asBoolean(false))
            throw new SparkConfigException("jvm_request failed")
          val next = answer.path("jvm_request")
          if (next.isObject) {
            val done = request.putObject("done")
            done.put("number", next.get("number").asLong)
            done.set[JsonNode]("answer", onRequest(next.get("name").asText, next.get("request")))
          }
        } catch {
          // Only the class, as below. A process that has ended ends the loop; any other failure must not end the loop.
          case e: Exception if !closed && process.isAlive =>
            if (SparkAccess.ending) return
            log.warn("a request of the side process to the JVM failed: {}", e.getClass.getName)
            Thread.sleep(RequestPauseMs)
          case _: Exception => ()
        }
    }

    private def nextRequest() = {
      val request = Json.obj()
      request.put("wait_ms", RequestWaitMs)
      request
    }

    def withTimeout(timeoutMs: Int): PythonEndpoint = synchronized {
      waiting.getOrElse { val made = process.endpoint(timeoutMs); waiting = Some(made); made }
    }

    def call(through: PythonEndpoint, method: String, request: JsonNode): JsonNode = {
      val answer =
        try Json.parse(through.call(method, Json.write(request)))
        catch {
          // Only the class: a message of Py4J could hold a reply.
          case e @ (_: Py4JNetworkException | _: Py4JException | _: java.io.IOException) =>
            broken(this, e.getClass.getSimpleName)
        }
      if (answer.path("ok").asBoolean(false)) answer.asInstanceOf[ObjectNode].put(Number, number)
      else throw new SparkConfigException(redact(answer.path("message").asText("unknown error")))
    }
  }
}

private[sparkconfig] object Supervisor {
  type Caller = (String, JsonNode) => JsonNode

  /** In each answer: the number of the connection that it came over, which grows with each process. */
  val Number = "connection"
  private val FirstBackoffMs = 100L
  private val MaxBackoffMs = 10000L
  private val StopGraceMs = 2000L
  private val HeartbeatMs = 1000L
  private val PulseTimeoutMs = 5000
  private val RequestWaitMs = 30000
  private val RequestPauseMs = 1000L
  private val PatienceMs = 5000L
  private val RetryMs = 100L
}
