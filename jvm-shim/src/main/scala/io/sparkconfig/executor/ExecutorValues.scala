package io.sparkconfig.executor

import java.util.concurrent.ThreadLocalRandom
import java.util.concurrent.atomic.AtomicReference

import io.sparkconfig.SparkConfigException
import io.sparkconfig.binding.{Expression, Snapshot, ValueSource}
import io.sparkconfig.files.{FilePlacementException, LocalFiles}
import io.sparkconfig.redaction.Redactor
import org.apache.spark.api.plugin.PluginContext
import org.slf4j.LoggerFactory

/**
 * An executor's values: a snapshot of the driver's, asked for at start, polled with jitter, and at once when a
 * connection was refused or an unknown expression turns up.
 */
private[sparkconfig] final class ExecutorValues(context: PluginContext, pollMs: Long) extends ValueSource {
  import ExecutorValues._

  private val log = LoggerFactory.getLogger(classOf[ExecutorValues])
  private val held = new AtomicReference[Snapshot](Snapshot.Empty)
  private val fetching = new Object
  @volatile private var cipher: Option[SnapshotCipher] = None
  @volatile private var closed = false
  @volatile private var listener: Snapshot => Unit = (_: Snapshot) => ()
  @volatile private var heardAt = System.nanoTime()
  private val poller = new Thread(() => poll(), "sparkconfig-poll")

  override def snapshot: Snapshot = held.get()

  /** Called after each new generation is in place. */
  def onChange(action: Snapshot => Unit): Unit = listener = action

  /** Milliseconds since the driver answered last. */
  def silenceMs: Long = (System.nanoTime() - heardAt) / 1000000

  def start(): Unit = {
    try refresh()
    catch { case e: Exception => log.warn("no snapshot from the driver yet: {}", describe(e)) }
    poller.setDaemon(true)
    poller.start()
  }

  override def refresh(): Boolean = fetching.synchronized {
    ask(AskSnapshot(held.get().generation, context.executorID())) match {
      case news: SnapshotNews =>
        val bytes = if (news.inline != null) news.inline else news.shared.value
        accept(key().decrypt(news.generation, bytes))
      case _ => false
    }
  }

  override def resolve(expression: Expression): String =
    held.get().get(expression).getOrElse {
      refresh()
      held.get().get(expression).getOrElse(askDriver(expression, worker = false))
    }

  override def resolveAll(expressions: Seq[Expression]): Seq[String] = {
    val known = expressions.map(expression => expression -> resolve(expression))
    // Each may have brought a newer snapshot; the values come from one of them.
    val newest = held.get()
    known.map { case (expression, value) => newest.get(expression).getOrElse(value) }
  }

  override def resolveForWorker(expression: Expression): String = askDriver(expression, worker = true)

  def close(): Unit = {
    closed = true
    poller.interrupt()
  }

  /** Newer news only: an answer may be overtaken by the next one. */
  private def accept(received: Snapshot): Boolean = {
    val before = held.get()
    if (received.generation <= before.generation) false
    else {
      val news = LocalFiles.place(received)
      Redactor.register(news.secretValues)
      held.set(news)
      listener(news)
      log.info("sparkconfig: generation {} with {} expressions", news.generation, news.values.size)
      true
    }
  }

  private def key(): SnapshotCipher = cipher.getOrElse {
    val made = ask(AskKey) match {
      case key: Key => new SnapshotCipher(key.bytes)
      case _ => throw new SparkConfigException("the driver gave no key for its snapshots")
    }
    cipher = Some(made)
    made
  }

  private def askDriver(expression: Expression, worker: Boolean): String = {
    val deadline = System.nanoTime() + AskDeadlineMs * 1000000
    while (System.nanoTime() < deadline) {
      ask(AskExpression(expression.text, expression.siblings, worker)) match {
        case Ready(_) =>
          refresh()
          held.get().get(expression) match {
            case Some(value) => return value
            case None => Thread.sleep(RetryMs)
          }
        case Plain => return expression.text
        case Refused(message) => throw new SparkConfigException(message)
        case _ => Thread.sleep(RetryMs)
      }
    }
    throw new SparkConfigException(s"the driver did not resolve ${expression.text} within $AskDeadlineMs ms")
  }

  private def ask(message: Message): Message = {
    val answer = Messages.decode(context.ask(Messages.encode(message))).getOrElse(
      throw new SparkConfigException("the driver's sparkconfig jar does not speak this executor's version"))
    heardAt = System.nanoTime()
    answer
  }

  private def poll(): Unit = while (!closed) {
    try {
      Thread.sleep(jittered(pollMs))
      if (!closed) {
        refresh()
        LocalFiles.tidy()
      }
    } catch {
      case _: FilePlacementException => () // it is logged; the generation held serves, and the next poll tries again
      case _: InterruptedException => closed = true
      case e: Exception => if (!closed) log.warn("the driver gave no news: {}", describe(e))
    }
  }

  /** Plus or minus a tenth, so that executors do not ask in step. */
  private def jittered(ms: Long): Long = {
    val span = math.max(1L, ms / 10)
    ms - span + ThreadLocalRandom.current().nextLong(2 * span)
  }

  private def describe(e: Exception): String = Redactor.redact(e.getClass.getSimpleName + ": " + e.getMessage)
}

private object ExecutorValues {
  private val AskDeadlineMs = 60000L
  private val RetryMs = 20L
}
