package io.sparkconfig.executor

import java.util.concurrent.atomic.{AtomicBoolean, AtomicLong, AtomicReference}
import java.util.concurrent.{ConcurrentHashMap, ThreadLocalRandom}

import scala.annotation.tailrec
import scala.util.control.NonFatal

import io.sparkconfig.core.{Expression, Renewal, Snapshot, SparkConfigException, Threads, Used, ValueSource}
import io.sparkconfig.files.{FilePlacementException, LocalFiles}
import io.sparkconfig.redaction.engine.Redactor
import org.apache.spark.api.plugin.PluginContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sparkconfig.PushChannel
import org.slf4j.LoggerFactory

/**
 * An executor's values: a snapshot of the driver's, asked for at start, pushed by the driver, and asked for again when
 * a connection was refused or an unknown expression turns up. It is polled besides, with jitter: seldom, or at the poll
 * interval where nothing is pushed.
 *
 * @param policies whether there are policies: then the driver decides what code here may ask for by name
 */
private[sparkconfig] final class ExecutorValues(
    context: PluginContext,
    pollMs: Long,
    policies: Boolean,
    override val isShared: Boolean)
  extends ValueSource {
  import ExecutorValues._

  private val log = LoggerFactory.getLogger(classOf[ExecutorValues])
  private val held = new AtomicReference[Snapshot](Snapshot.Empty)
  val grants = new TaskGrants
  private val granted = ConcurrentHashMap.newKeySet[String]()
  private val texts = ConcurrentHashMap.newKeySet[String]()
  private val masked = new AtomicLong
  private val telling = new AtomicBoolean

  /** The newest generation of which this process's workers have been told. */
  @volatile private var announced = 0L
  @volatile private var cipher: Option[SnapshotCipher] = None
  @volatile private var closed = false
  @volatile private var listener: Snapshot => Unit = (_: Snapshot) => ()
  @volatile private var heardAt = System.nanoTime()
  private val poller = Threads.daemon("sparkconfig-poll")(poll())
  private val inbox = new Inbox(receive, wake)
  private val turn = new Object
  @volatile private var safetyNetMs = SafetyNetMs
  @volatile private var channel: Option[PushChannel] = None

  override def snapshot: Snapshot = held.get()

  /** Called after each new generation is in place. */
  def onChange(action: Snapshot => Unit): Unit = listener = action

  /** Milliseconds since the driver answered last. */
  def silenceMs: Long = (System.nanoTime() - heardAt) / 1000000

  def start(): Unit = {
    // Before the first question, so that nothing falls between.
    listen()
    try refresh()
    catch { case e: Exception => log.warn("no snapshot from the driver yet: {}", describe(e)) }
    poller.start()
  }

  /** Without a lock: each thread that needs news asks, and the newest that comes stays. */
  override def refresh(): Boolean =
    answered(ask(AskSnapshot(held.get().generation, masks, context.executorID()))) match {
      case news: SnapshotNews => take(news)
      case Unchanged(againMs) => safetyNetMs = math.max(SafetyNetMs, againMs); false
      case _ => false
    }

  private def masks: Long = masked.get

  /** Asks the driver to push. Without that everything works, later. */
  private def listen(): Unit =
    try {
      val opened = PushChannel.open("sparkconfig-push")(inbox.put)
      channel = Some(opened)
      inbox.start()
      if (ask(new Listen(context.executorID(), opened.reference)) != Listening) unlisten()
    } catch {
      // LinkageError: another Spark has other classes there.
      case e @ (_: Exception | _: LinkageError) =>
        log.info("the driver does not push changes; this process asks for them: {}", e.getClass.getName)
        unlisten()
    }

  private def unlisten(): Unit = {
    channel.foreach(_.close())
    channel = None
  }

  /** What came, from whomever: only the driver has the key, and older news change nothing. */
  private def receive(pushed: Pushed): Unit = {
    val news = pushed.news
    if (masks >= pushed.covered && news.generation > held.get().generation) take(news)
    else if (masks < news.masks || news.generation > held.get().generation) refresh()
    heardAt = System.nanoTime()
    context.send(Messages.encode(Have(context.executorID(), state)))
  }

  /** What this process has of the driver's values. */
  def state: ExecutorState = ExecutorState(held.get().generation, masks)

  /**
   * Waits until this process masks every value that a task may hold, and has the generation that the driver had when
   * it submitted the task. Costs nothing if it does, as it nearly always does.
   */
  def reach(wanted: ExecutorState): Unit = {
    val deadline = System.nanoTime() + ReachDeadlineMs * 1000000
    var generation = wanted.generation
    def behind = masks < wanted.masks || announced < generation
    while (behind) {
      val failure =
        try { refresh(); "the driver has nothing newer" }
        catch {
          case _: FilePlacementException => generation = 0L; "" // it is logged; what is held serves, and is masked
          case e: InterruptedException => throw e
          case e: Exception => describe(e)
        }
      if (behind && (closed || System.nanoTime() > deadline)) {
        log.error("a task begins without the driver's generation {}: {}", wanted.generation, failure)
        return
      }
      if (behind) Thread.sleep(RetryMs)
    }
  }

  override def resolve(expression: Expression): String = use(Seq(expression)).values.head

  override def use(expressions: Seq[Expression]): Used = {
    if (!holds(expressions)) refresh()
    val known = held.get()
    if (holds(expressions)) Used.of(known, expressions, isText) else askDriver(expressions, worker = false)
  }

  private def isText(expression: Expression): Boolean = texts.contains(expression.id)

  private def holds(expressions: Seq[Expression]): Boolean = {
    val known = held.get()
    expressions.forall(each => known.get(each).isDefined || isText(each))
  }

  override def renew(refused: Used): Used = {
    quietly(refresh()) // the driver may have others by now
    Renewal.until(refused) { () =>
      if (!held(refused).sameAs(refused)) 0L
      else {
        val waitMs = askRenewal(refused.expressions.map(_.id).toSet)
        quietly(refresh())
        waitMs
      }
    }(held(refused))
  }

  private def held(refused: Used): Used =
    use(refused.expressions)

  private def askRenewal(ids: Set[String]): Long = {
    val deadline = System.nanoTime() + RenewalDeadlineMs * 1000000
    var ticket = 0L
    while (System.nanoTime() < deadline) {
      ask(AskRenewal(ids, ticket)) match {
        case Renewed(waitMs) => return waitMs
        case Renewing(number) =>
          ticket = number
          Thread.sleep(RetryMs)
        case _ => return 0L
      }
    }
    0L
  }

  private def quietly(action: => Unit): Unit =
    try action
    catch { case _: FilePlacementException => () } // it is logged; what is held serves

  override def useNamed(expressions: Seq[Expression]): Used = {
    val asked = if (policies) expressions.filterNot(each => granted.contains(each.id)) else Nil
    if (asked.nonEmpty) {
      useForWorker(asked)
      asked.foreach(each => granted.add(each.id))
    }
    use(expressions)
  }

  override def allowConnection(formats: Seq[String], options: Map[String, String], judged: Seq[String]): Unit = {
    val isGranted = !policies || grants.open(key().fingerprint.of(options, formats))
    if (!isGranted) ValueSource.withoutGrant(options)(useNamed)
  }

  override def useForWorker(expressions: Seq[Expression]): Used = askDriver(expressions, worker = true)

  def close(): Unit = {
    closed = true
    poller.interrupt()
    inbox.close()
    try unlisten()
    catch { case NonFatal(_) => () } // the RPC environment has ended before
  }

  /** Values are masked here before anything can use them, also if their files have no place. */
  private def take(news: SnapshotNews): Boolean = {
    Option(news.retired).foreach { retired =>
      Redactor.register(key().decryptMasks(retired.masks, content(retired.inline, retired.shared)), news.generation)
    }
    // Newer news only: an answer may be overtaken by the next one.
    val received =
      if (news.generation <= held.get().generation) None
      else Some(key().decrypt(news.generation, content(news.inline, news.shared)))
    received.foreach(snapshot => Redactor.register(snapshot.secretValues, snapshot.generation))
    masked.accumulateAndGet(news.masks, (one, other) => math.max(one, other))
    received.exists(accept)
  }

  private def content(inline: Array[Byte], shared: Broadcast[Array[Byte]]): Array[Byte] =
    if (inline != null) inline else shared.value

  private def accept(received: Snapshot): Boolean = {
    val isNew = replaced(LocalFiles.place(received))
    tell()
    isNew
  }

  @tailrec private def replaced(news: Snapshot): Boolean = {
    val before = held.get()
    if (news.generation <= before.generation) false
    else if (held.compareAndSet(before, news)) true
    else replaced(news)
  }

  /** Tells workers what is held, on the thread that comes first; the order stays. */
  private def tell(): Unit =
    while (announced < held.get().generation && telling.compareAndSet(false, true))
      try {
        val news = held.get()
        listener(news)
        announced = news.generation
        log.info("sparkconfig: generation {} with {} expressions", news.generation, news.values.size)
      } finally telling.set(false)

  private def key(): SnapshotCipher = cipher.getOrElse {
    val made = ask(AskKey) match {
      case key: Key => new SnapshotCipher(key.bytes)
      case _ => throw new SparkConfigException("the driver sent no key for its snapshots")
    }
    cipher = Some(made)
    made
  }

  /** The answer, once the driver has it. */
  private def answered(question: => Message): Message = {
    val deadline = System.nanoTime() + AskDeadlineMs * 1000000
    var answer = question
    while (answer == Pending && System.nanoTime() < deadline) {
      Thread.sleep(RetryMs)
      answer = question
    }
    answer
  }

  private def askDriver(expressions: Seq[Expression], worker: Boolean): Used = {
    val deadline = System.nanoTime() + AskDeadlineMs * 1000000
    while (System.nanoTime() < deadline) {
      ask(AskExpressions(expressions.map(each => each.text -> each.siblings), worker)) match {
        case ready: Ready => takePart(expressions, ready).foreach(used => return used)
        case Refused(message) => throw new SparkConfigException(message)
        case _ => Thread.sleep(RetryMs)
      }
    }
    throw new SparkConfigException(
      s"the driver did not resolve ${expressions.map(_.text).mkString(", ")} within $AskDeadlineMs ms")
  }

  /** None: this process has a newer generation by now, and asks again. */
  private def takePart(expressions: Seq[Expression], ready: Ready): Option[Used] = {
    val received = key().decrypt(ready.generation, ready.part)
    Redactor.register(received.secretValues, received.generation)
    if (held.get().generation < received.generation) refresh()
    if (held.get().generation > received.generation) None
    else {
      val part = LocalFiles.place(received)
      val plain = ready.texts.map(expressions)
      if (texts.size > MostTexts) texts.clear()
      plain.foreach(each => texts.add(each.id))
      held.updateAndGet(known => if (known.generation == part.generation) known.and(part) else known)
      Some(Used.of(part, expressions, plain))
    }
  }

  private def ask(message: Message): Message = {
    val answer = Messages.decode(context.ask(Messages.encode(message))).getOrElse(
      throw new SparkConfigException("the driver's sparkconfig jar does not speak this executor's version"))
    heardAt = System.nanoTime()
    answer
  }

  /** Asks the driver when it is time, and between that removes files that are no longer used. */
  private def poll(): Unit = {
    var asked = System.nanoTime()
    var spread = jitter()
    while (!closed) {
      try {
        if (isDue(asked, spread)) {
          asked = System.nanoTime()
          spread = jitter()
          refresh()
        }
        LocalFiles.tidy()
      } catch {
        case _: FilePlacementException => () // it is logged; the generation held serves, and the next poll tries again
        case _: InterruptedException => closed = true
        case e: Exception => if (!closed) log.warn("the driver did not answer: {}", describe(e))
      }
    }
  }

  /** Waits for the next question to the driver, but no longer than a minute; false: it is not time yet. */
  private def isDue(asked: Long, spread: Double): Boolean = turn.synchronized {
    val intervalMs = if (channel.isDefined && inbox.isWell) math.max(pollMs, safetyNetMs) else pollMs
    val leftMs = (intervalMs * spread).toLong - (System.nanoTime() - asked) / 1000000
    if (leftMs > 0) turn.wait(math.min(leftMs, SafetyNetMs))
    leftMs <= 0
  }

  /** News could not be taken: they are asked for as if none were pushed, and not only when the safety net does. */
  private def wake(): Unit = turn.synchronized(turn.notifyAll())

  /** Plus or minus a tenth, so that executors do not ask in step. */
  private def jitter(): Double = 0.9 + ThreadLocalRandom.current().nextDouble() / 5

  private def describe(e: Exception): String = Redactor.redact(e.getClass.getSimpleName + ": " + e.getMessage)
}

private object ExecutorValues {
  private val MostTexts = 10000
  private val AskDeadlineMs = 60000L
  private val RetryMs = 20L
  // Longer than a store that is slow may hold up the side process.
  private val RenewalDeadlineMs = 10000L
  private val ReachDeadlineMs = 60000L
  private val SafetyNetMs = 60000L
}
