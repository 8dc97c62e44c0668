package io.sparkconfig.executor.workers

import java.io.{DataInputStream, DataOutputStream, IOException}
import java.net.{StandardProtocolFamily, UnixDomainSocketAddress}
import java.nio.channels.{Channels, ServerSocketChannel, SocketChannel}
import java.util.concurrent.{ConcurrentHashMap, ExecutorService => Pool, Executors}

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode
import io.sparkconfig.core.{Expression, Json, Snapshot, SparkConfigException, Threads, Used, ValueSource}
import io.sparkconfig.redaction.engine.Redactor
import org.slf4j.LoggerFactory

/**
 * Gives this process's values to its Python workers, over a Unix socket that only this user can reach.
 *
 * A message is four bytes of length and JSON. The first of a connection is the token; then `snapshot` returns the
 * values if they are newer than the generation known, and `resolve` takes expressions into use. Python asks only
 * after the mapped generation has changed.
 *
 * @param policies whether there are policies: then workers get what the driver has let them ask for, and nothing else
 *               of what this process holds
 */
private[sparkconfig] final class WorkerServer(values: ValueSource, policies: Boolean) {
  import WorkerServer._

  private val log = LoggerFactory.getLogger(classOf[WorkerServer])
  private val threads: Pool = Executors.newCachedThreadPool(Threads.factory("sparkconfig-worker-server"))
  private val granted = ConcurrentHashMap.newKeySet[String]()
  private val atExit = Threads.atExit("sparkconfig-worker-cleanup")(door.folder.remove())
  @volatile private var door = new Door(WorkerFolder.create())
  @volatile private var isOpen = true
  private var warned = false

  def start(): Unit = {
    Runtime.getRuntime.addShutdownHook(atExit)
    try door.open()
    catch { case e: IOException => close(); throw e }
    publish(values.snapshot)
    threads.submit(runnable(keep()))
    try door.folder.tell()
    catch { case e: IllegalStateException => close(); throw e }
    running = Some(this)
  }

  def publish(snapshot: Snapshot): Unit = synchronized(door.folder.announce(snapshot.generation))

  /** Before a task: its worker may be new, and all temporary files may have been removed since the last one. */
  def ready(): Unit =
    if (isOpen && !door.folder.isThere)
      openAgain().foreach(e => log.warn(s"new Python workers cannot ask for values: ${Redactor.redact(e.toString)}"))

  /**
   * At the same place, with the same token: daemons that start workers still have the old environment.
   *
   * @return why it failed, the first time
   */
  private def openAgain(): Option[IOException] = synchronized {
    if (!isOpen || door.folder.isThere) None
    else
      try {
        door.close()
        val next = new Door(door.folder.again())
        next.open()
        door = next
        publish(values.snapshot)
        warned = false
        None
      } catch {
        case e: IOException =>
          val isFirst = !warned
          warned = true
          Some(e).filter(_ => isFirst)
      }
  }

  def close(): Unit = synchronized {
    isOpen = false
    running = running.filter(_ ne this)
    door.close()
    threads.shutdownNow()
    door.folder.remove()
    try Runtime.getRuntime.removeShutdownHook(atExit)
    catch { case _: IllegalStateException => () } // it runs already
  }

  /** The socket in a folder. */
  private final class Door(val folder: WorkerFolder) {
    private val listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX)

    def open(): Unit =
      try {
        listener.bind(UnixDomainSocketAddress.of(folder.socket), Backlog)
        threads.submit(runnable(acceptAll()))
      } catch { case e: IOException => close(); throw e }

    def close(): Unit =
      try listener.close()
      catch { case _: IOException => () }

    private def acceptAll(): Unit =
      try while (listener.isOpen) {
          val client = listener.accept()
          threads.submit(runnable(serve(client, this)))
        }
      catch { case _: IOException => () }
  }

  /** Cleaners of temporary directories remove what was not touched for ten days. */
  private def keep(): Unit =
    try while (isOpen) { Thread.sleep(TouchMs); door.folder.touch() }
    catch { case _: InterruptedException => () }

  /** A worker that came by an earlier door is sent to the new one: what it has mapped is told no more. */
  private def serve(client: SocketChannel, by: Door): Unit =
    try {
      val in = new DataInputStream(Channels.newInputStream(client))
      val out = new DataOutputStream(Channels.newOutputStream(client))
      if (by.folder.opens(read(in).path("token").asText(""))) {
        send(out, ok())
        var request = read(in)
        while (door eq by) { send(out, answer(request)); request = read(in) }
      }
    } catch {
      case _: IOException => () // the worker has ended
      case NonFatal(e) => log.warn("a Python worker's call failed with {}", e.getClass.getName)
    } finally
      try client.close()
      catch { case _: IOException => () }

  private def answer(request: JsonNode): JsonNode =
    try request.path("op").asText("") match {
        case "snapshot" => news(values.snapshot, request.path("known").asLong(-1))
        case "resolve" => resolve(request.path("expressions").elements().asScala.map(expression).toList)
        case other => refusal(s"sparkconfig's executor knows no call named '$other'")
      }
    catch {
      case e: SparkConfigException => refusal(e.getMessage)
      case NonFatal(e) => refusal(s"the executor failed with ${e.getClass.getName}")
    }

  /** All from one generation: the snapshot is taken once, after everything is in use. */
  private def resolve(expressions: Seq[Expression]): JsonNode = {
    val unknown = expressions.filterNot(each =>
      values.snapshot.get(each).isDefined && (!policies || granted.contains(each.id)))
    if (unknown.nonEmpty) {
      values.useForWorker(unknown)
      unknown.foreach(each => granted.add(each.id))
    }
    // From memory, or from the driver if a value changed meanwhile: an error, or a value for each of them.
    val used = values.use(expressions)
    val newest = values.snapshot
    val answer = news(newest, -1)
    val ids = answer.putArray("ids")
    val texts = answer.putArray("texts")
    expressions.foreach { expression =>
      ids.add(expression.id)
      if (newest.get(expression).isEmpty) {
        if (!used.texts(expression.id)) throw Used.noValue(expression)
        texts.add(expression.id)
      }
    }
    answer
  }

  private def news(snapshot: Snapshot, known: Long) = {
    val answer = ok()
    val shown = if (policies) snapshot.only(granted.contains(_)) else snapshot
    if (snapshot.generation != known) answer.set[JsonNode]("values", shown.localValues)
    answer.put("generation", snapshot.generation)
    answer
  }

  private def expression(node: JsonNode): Expression =
    Expression.of(
      node.get("text").asText,
      Json.fields(node.get("siblings")).map { case (key, text) => key -> text.asText }.toMap)

  private def ok() = {
    val node = Json.obj()
    node.put("ok", true)
    node
  }

  private def refusal(message: String): JsonNode = {
    val node = Json.obj()
    node.put("ok", false)
    node.put("message", message)
    node
  }

  private def runnable(action: => Unit): Runnable = new Runnable { override def run(): Unit = action }
}

private[sparkconfig] object WorkerServer {

  @volatile private var running: Option[WorkerServer] = None

  /** Before a task of this process; see [[WorkerServer.ready]]. */
  def ready(): Unit = running.foreach(_.ready())

  /** Where workers may not ask: those of this process ask no other application's executor either. */
  def none(): Unit = WorkerFolder.forgetInherited()

  private val Backlog = 128
  private val TouchMs = 3600000L
  private val LongestRequest = 16 * 1024 * 1024

  private def read(in: DataInputStream): JsonNode = {
    val length = in.readInt()
    if (length < 0 || length > LongestRequest) throw new IOException("a message of impossible length")
    val bytes = new Array[Byte](length)
    in.readFully(bytes)
    Json.parse(bytes)
  }

  private def send(out: DataOutputStream, node: JsonNode): Unit = {
    val bytes = Json.bytes(node)
    // One write: a length alone would be a packet of its own.
    val framed = java.nio.ByteBuffer.allocate(4 + bytes.length).putInt(bytes.length).put(bytes).array()
    out.write(framed)
    out.flush()
  }
}
