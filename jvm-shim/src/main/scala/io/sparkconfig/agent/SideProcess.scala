package io.sparkconfig.agent

import java.io.{BufferedReader, ByteArrayOutputStream, File, InputStream, InputStreamReader}
import java.net.{InetAddress, Socket}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.{Callable, Executors, TimeUnit, TimeoutException}
import javax.net.SocketFactory

import io.sparkconfig.core.{Json, SparkConfigException, Threads, Tokens}
import org.slf4j.LoggerFactory
import py4j.{CallbackClient, Gateway, GatewayServer}

/** How to start a side process: the command, its environment, and how long the first sign of life may take. */
private[sparkconfig] final case class LaunchSpec(
    command: Seq[String],
    environment: Option[Map[String, String]],
    startTimeoutMs: Long)

/** A side process that did not come up, with the reason; the next interpreter may do better. */
private[sparkconfig] class LaunchFailure(val reason: String) extends RuntimeException(reason)

/**
 * One running `python -m sparkconfig.agent`. The process listens on loopback behind a token that it got on its
 * standard input, and ends when that input ends: also when this JVM is killed.
 */
private[sparkconfig] final class SideProcess private (
    process: Process,
    val hello: com.fasterxml.jackson.databind.JsonNode,
    token: String) {

  private val port = hello.get("port").asInt
  private var clients: List[CallbackClient] = Nil

  def pid: Long = process.pid()

  def isAlive: Boolean = process.isAlive

  /** A client of its own for calls that may take up to `readTimeoutMs`. */
  def endpoint(readTimeoutMs: Int): PythonEndpoint = synchronized {
    import SideProcess.{NeverTidied, NoDelaySockets}
    val client = new CallbackClient(
      port,
      SideProcess.loopback,
      token,
      NeverTidied,
      TimeUnit.SECONDS,
      NoDelaySockets,
      false,
      readTimeoutMs)
    clients = client :: clients
    new Gateway(null, client)
      .createProxy(getClass.getClassLoader, Array[Class[_]](classOf[PythonEndpoint]), "t")
      .asInstanceOf[PythonEndpoint]
  }

  /** Ends the process: politely by end of input, then by force. */
  def stop(graceMs: Long): Unit = {
    val open = synchronized { val found = clients; clients = Nil; found }
    open.foreach(client => quietly(client.shutdown()))
    quietly(process.getOutputStream.close())
    if (!process.waitFor(graceMs, TimeUnit.MILLISECONDS)) process.destroyForcibly()
  }

  private def quietly(action: => Unit): Unit =
    try action
    catch { case _: Exception => () }
}

private[sparkconfig] object SideProcess {
  private val log = LoggerFactory.getLogger(classOf[SideProcess])
  private[agent] val loopback: InetAddress = InetAddress.getByName("127.0.0.1")

  // Py4J's Java client logs whole replies at INFO, values included.
  GatewayServer.turnLoggingOff()

  /**
   * Py4J would close idle connections from a timer of its own, whose threads are not daemons: an application that does
   * not stop Spark would never end.
   */
  private val NeverTidied = 0L

  /** Without TCP_NODELAY each call waits 44 ms for a delayed acknowledgement. */
  private[agent] object NoDelaySockets extends SocketFactory {
    private val plain = SocketFactory.getDefault
    private def tuned(socket: Socket): Socket = { socket.setTcpNoDelay(true); socket }
    override def createSocket(host: String, port: Int): Socket = tuned(plain.createSocket(host, port))
    override def createSocket(host: InetAddress, port: Int): Socket = tuned(plain.createSocket(host, port))
    override def createSocket(host: String, port: Int, local: InetAddress, localPort: Int): Socket =
      tuned(plain.createSocket(host, port, local, localPort))
    override def createSocket(host: InetAddress, port: Int, local: InetAddress, localPort: Int): Socket =
      tuned(plain.createSocket(host, port, local, localPort))
  }

  /**
   * Starts a process. It boots while this JVM does something else; [[Launched.hello]] waits for it.
   *
   * @throws LaunchFailure with a reason for people; what the process wrote is in the driver's log
   */
  def launch(spec: LaunchSpec, redact: String => String): Launched = {
    val builder = new ProcessBuilder(spec.command: _*)
    builder.directory(new File("/"))
    spec.environment.foreach { only =>
      builder.environment().clear()
      only.foreach { case (name, value) => builder.environment().put(name, value) }
    }
    try new Launched(builder.start(), spec.startTimeoutMs, redact)
    catch { case e: java.io.IOException => throw new LaunchFailure("it cannot be started: " + e.getMessage) }
  }

  /** A process that was started and has not said hello yet. */
  private[agent] final class Launched(process: Process, timeoutMs: Long, redact: String => String) {

    /** Gives the process its token and waits until it listens. */
    def hello(): SideProcess = {
      val lastWords = new LastWords(process.getErrorStream, redact)
      val token = Tokens.text()
      try {
        val greeting = Json.obj()
        greeting.put("token", token)
        process.getOutputStream.write((Json.write(greeting) + "\n").getBytes(UTF_8))
        process.getOutputStream.flush()
        val line = readLine(process.getInputStream, timeoutMs)
        new SideProcess(process, Json.parse(line), token)
      } catch {
        case e: Exception =>
          val ended = process.waitFor(300, TimeUnit.MILLISECONDS)
          process.destroyForcibly()
          val why =
            if (e.isInstanceOf[TimeoutException]) s"no answer within $timeoutMs ms"
            else if (ended) lastWords.summary(process.exitValue())
            else "it ended before it was ready"
          throw new LaunchFailure(why)
      }
    }

    /** Ends a process that is not needed any more. */
    def abandon(): Unit = process.destroyForcibly()
  }

  private def readLine(in: InputStream, timeoutMs: Long): String = {
    val reader = Executors.newSingleThreadExecutor(Threads.factory("sparkconfig-agent-hello"))
    try {
      val line = reader.submit(new Callable[String] {
        override def call(): String = {
          val bytes = new ByteArrayOutputStream()
          var next = in.read()
          while (next >= 0 && next != '\n') { bytes.write(next); next = in.read() }
          if (next < 0) throw new SparkConfigException("end of output")
          new String(bytes.toByteArray, UTF_8)
        }
      })
      line.get(timeoutMs, TimeUnit.MILLISECONDS)
    } finally reader.shutdownNow()
  }

  /** Passes on what the process writes to its standard error, line by line, redacted, and keeps the last line. */
  private final class LastWords(stream: InputStream, redact: String => String) {
    @volatile private var last = ""
    private val thread = Threads.daemon("sparkconfig-agent-log")(pump())
    thread.start()

    private def pump(): Unit = {
      val lines = new BufferedReader(new InputStreamReader(stream, UTF_8))
      try {
        var line = lines.readLine()
        while (line != null) {
          last = redact(line)
          // A line begins with its level, unless it goes on with the one before.
          last.takeWhile(_ != ' ') match {
            case "ERROR" | "CRITICAL" => log.error("side process: {}", last)
            case "WARNING" => log.warn("side process: {}", last)
            case _ => log.info("side process: {}", last)
          }
          line = lines.readLine()
        }
      } catch { case _: java.io.IOException => () }
    }

    def summary(exitCode: Int): String = {
      thread.join(500)
      if (last.isEmpty) s"it ended with exit code $exitCode" else s"it ended with exit code $exitCode: $last"
    }
  }
}
