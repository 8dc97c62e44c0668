package io.sparkconfig.driver

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.{AtomicBoolean, AtomicLong}

import scala.annotation.tailrec
import scala.collection.JavaConverters._

import io.sparkconfig.agent.{AgentClient, Resolved}
import io.sparkconfig.core.{
  AgentUnavailableException,
  Expression,
  NamedConnections,
  Renewal,
  Snapshot,
  Threads,
  Used,
  ValueSource
}
import io.sparkconfig.files.{FilePlacementException, LocalFiles}
import io.sparkconfig.policy.PolicyClient
import io.sparkconfig.redaction.engine.Redactor
import org.apache.spark.TaskContext
import org.slf4j.LoggerFactory

/**
 * The driver's values. The side process pushes each generation, and a use reads memory as long as it is known to be
 * there; otherwise a use asks it. While it is down, the last snapshot serves until `spark.config.stale.expiry`.
 */
private[sparkconfig] final class DriverValues(client: AgentClient, first: Snapshot) extends ValueSource {
  import DriverValues._

  private val log = LoggerFactory.getLogger(classOf[DriverValues])
  private val changed = new Object
  private val newest = new Held(first, register)
  private val telling = new AtomicBoolean
  @volatile private var untold = false
  // The last one that was told to the listener.
  @volatile private var told: Option[Snapshot] = None
  @volatile private var listener: Option[(Snapshot, Boolean) => Unit] = None
  @volatile private var learn: Iterable[String] => Unit = (_: Iterable[String]) => ()
  @volatile private var closed = false
  private val inUse = new ConcurrentHashMap[String, Use]()
  private val newestUntil = new AtomicLong(System.nanoTime())
  private val lastAnswerAt = new AtomicLong(System.nanoTime())
  private val watcher = Threads.daemon("sparkconfig-watch")(watchLoop())

  client.onRestart(connection => (newest.continuedOver(connection), inUse.values.asScala.map(_.expression).toList))

  override def snapshot: Snapshot = held

  private def held: Snapshot = newest.get

  override def refresh(): Boolean = {
    val before = held.generation
    ask(Nil, None, fresh = false, patient = true)
    held.generation > before
  }

  override def resolve(expression: Expression): String = resolveAll(Seq(expression)).head

  override def use(expressions: Seq[Expression]): Used = useAs(None, expressions, None)

  override def useForWorker(expressions: Seq[Expression]): Used = useAs(Some("worker"), expressions, Some("worker"))

  override def useForExecutor(expressions: Seq[Expression]): Used = useAs(None, expressions, Some("executor"))

  override def useFresh(expressions: Seq[Expression]): Used = {
    val used = useAs(Application, expressions, Application, fresh = true)
    awaitTold(used.generation)
    used
  }

  override def useNamed(expressions: Seq[Expression]): Used = useAs(Application, expressions, Application)

  override def allowConnection(formats: Seq[String], options: Map[String, String], judged: Seq[String]): Unit = {
    NamedConnections.requireOwn(options)
    if (!PolicyClient.running.forall(_.connection(formats, options, judged)))
      ValueSource.withoutGrant(options)(useForWorker)
  }

  override def isShared: Boolean = PolicyClient.running.exists(_.evaluatesStatements)

  override def renew(refused: Used): Used = Renewal.until(refused) { () =>
    // Another caller may have been refused before.
    val known = held
    if (holds(known, refused.expressions) && !used(known, refused.expressions).sameAs(refused)) 0L
    else renewIds(refused.expressions.map(_.id))
  } {
    use(refused.expressions)
  }

  /**
   * Asks the stores of expressions in use; ids of others have no effect.
   *
   * @return after how many milliseconds asking again reads what was read a moment ago, or 0
   */
  def renewIds(ids: Iterable[String]): Long =
    try {
      val (news, waitMs) = client.renew(ids, held)
      lastAnswerAt.set(System.nanoTime())
      accept(news)
      waitMs
    } catch {
      case _: AgentUnavailableException => 0L // the last snapshot serves
      case _: FilePlacementException => 0L // it is logged; what is held serves
    }

  /**
   * @param scope in which the policy evaluates the references; None: a point of use, whose options or confs a door has
   *              evaluated
   * @param asker whom the side process answers: workers and executors may have less than the driver
   * @throws io.sparkconfig.core.PolicyRefusedException the policy refuses one of them
   */
  private def useAs(
      scope: Option[String],
      expressions: Seq[Expression],
      asker: Option[String],
      fresh: Boolean = false): Used = {
    val known = held
    // What a task uses has come with a connection that it may open; executors get only what the driver has used.
    val ofTask = asker.contains("executor") || (scope.isEmpty && TaskContext.get() != null && holds(known, expressions))
    if (!ofTask) PolicyClient.running.foreach(_.use(scope, expressions))
    // What executors and workers may have, the side process checks each time.
    if (!fresh && System.nanoTime() - newestUntil.get < 0 && isKnown(known, expressions, asker))
      used(known, expressions)
    else {
      val good = holds(known, expressions)
      try {
        val answer = ask(expressions, asker, fresh, patient = fresh || !good)
        Used.of(answer.snapshot, expressions, each => answer.texts(each.id))
      } catch {
        case down: AgentUnavailableException =>
          lastGood(expressions).map(used(_, expressions)).getOrElse(throw down)
        case unplaced: FilePlacementException => if (good) used(known, expressions) else throw unplaced
      }
    }
  }

  private def isKnown(known: Snapshot, expressions: Seq[Expression], asker: Option[String]): Boolean =
    !asker.exists(Outside) && expressions.forall { expression =>
      val use = inUse.get(expression.id)
      use != null && use.askers.contains(asker) && (use.isText || known.values.contains(expression.id)) && {
        if (!use.recent) use.recent = true
        true
      }
    }

  private def isText(expression: Expression): Boolean = {
    val use = inUse.get(expression.id)
    use != null && use.isText
  }

  private def holds(known: Snapshot, expressions: Seq[Expression]): Boolean =
    expressions.forall(each => known.get(each).isDefined || isText(each))

  private def used(known: Snapshot, expressions: Seq[Expression]): Used = Used.of(known, expressions, isText)

  /** Asks every store, whether due or not. */
  @tailrec def refreshAll(): Unit = {
    val news = client.refresh(held)
    if (accept(news)) awaitTold(news.generation) else refreshAll()
  }

  /** Gives the generation held, as soon as it is newer than `known`, or after `waitMs`. */
  def awaitGeneration(known: Long, waitMs: Long): Long = await(waitMs)(held.generation > known)

  /** Waits until Spark has a generation too, which another thread may be about to tell. */
  private def awaitTold(generation: Long): Unit =
    await(ToldMs)(listener.isEmpty || told.exists(_.generation >= generation))

  private def await(waitMs: Long)(is: => Boolean): Long = changed.synchronized {
    val end = System.nanoTime() + waitMs * 1000000
    var left = waitMs
    while (!is && left > 0 && !closed) {
      changed.wait(left)
      left = (end - System.nanoTime()) / 1000000
    }
    held.generation
  }

  /**
   * @param learned gets secrets before a use can have them; memory only
   * @param action gets what is held as soon as it differs, and whether it is a newer generation; one call at a time
   */
  def onChange(learned: Iterable[String] => Unit)(action: (Snapshot, Boolean) => Unit): Unit = {
    learn = learned
    listener = Some(action)
    tell()
  }

  /** Begins to wait for changes that the side process sees by itself. */
  def watch(): Unit = watcher.start()

  def close(): Unit = {
    closed = true
    watcher.interrupt()
  }

  @tailrec private def ask(
      expressions: Seq[Expression],
      asker: Option[String],
      fresh: Boolean,
      patient: Boolean): Resolved = {
    val answer = client.resolve(expressions, asker, held, fresh, patient)
    if (accept(answer.snapshot)) { note(expressions, asker, answer); answer }
    else ask(expressions, asker, fresh, patient) // of the process that has taken over
  }

  /** The answer itself counts, not what is held: it is the one that was read for this use. */
  private def note(expressions: Seq[Expression], asker: Option[String], answer: Resolved): Unit = {
    lastAnswerAt.set(System.nanoTime())
    if (inUse.size > MostTexts) inUse.values.removeIf(_.isText)
    expressions.foreach { each =>
      val text = answer.texts(each.id)
      inUse.compute(
        each.id,
        (_, before) =>
          if (before != null && before.isText == text) { before.askers += asker; before }
          else new Use(each, text, if (before == null) Set(asker) else before.askers + asker))
    }
  }

  /** @return whether it counts: a process may have answered that another one has replaced since */
  private def accept(news: Snapshot): Boolean = {
    val taken = newest.take(news)
    taken.foreach { case (before, after) =>
      if (after.generation > before.generation)
        inUse.values.removeIf(use => !use.isText && !after.values.contains(use.expression.id))
    }
    // Older ones, too: their secrets are to be masked.
    if (!taken.exists { case (before, after) => (after eq before) && news.generation == before.generation }) tell()
    taken.isDefined
  }

  private def register(news: Snapshot): Unit = {
    Redactor.register(news.secretValues, news.generation)
    learn(news.secretValues)
  }

  /** Tells what is held, on the thread that comes first; others go on meanwhile. */
  private def tell(): Unit = {
    untold = true
    while (untold && listener.isDefined && telling.compareAndSet(false, true))
      try {
        untold = false
        val news = held
        val isNew = told.forall(_.generation < news.generation)
        try listener.foreach(_(news, isNew))
        catch {
          case e: Exception => log.error("generation {} is not known to Spark: {}", news.generation, e.getClass.getName)
        }
        told = Some(news)
        changed.synchronized(changed.notifyAll())
      } finally telling.set(false)
  }

  /** What is held, if it has all of these and is not too old for them. */
  private def lastGood(expressions: Seq[Expression]): Option[Snapshot] = {
    val ageMs = (System.nanoTime() - lastAnswerAt.get()) / 1000000
    Some(held).filter(known =>
      expressions.isEmpty || ageMs <= client.settings.staleExpiryMs && holds(known, expressions))
  }

  /** What was used since the last time: the side process forgets what is not used any more. */
  private def takeRecent(): List[String] =
    inUse.values.asScala.filter(_.recent).map { use => use.recent = false; use.expression.id }.toList

  private def watchLoop(): Unit = while (!closed) {
    try {
      // Not of the answer: this process may sleep before it reads that.
      val asked = System.nanoTime()
      val change = client.awaitChange(held, takeRecent(), WaitMs)
      PolicyClient.record(change.audit)
      change.snapshot.foreach(accept(_))
      lastAnswerAt.set(System.nanoTime())
      newestUntil.set(asked + NewestNanos)
      LocalFiles.tidy()
    } catch {
      case _: InterruptedException => closed = true
      case _: FilePlacementException => // it is logged
        try Thread.sleep(UnplacedMs)
        catch { case _: InterruptedException => closed = true }
      case e: Exception =>
        newestUntil.set(System.nanoTime())
        if (!closed) {
          log.debug("no news from the side process: {}", e.getClass.getSimpleName)
          try Thread.sleep(RetryMs)
          catch { case _: InterruptedException => closed = true }
        }
    }
  }
}

private object DriverValues {

  /** @param askers in whose scopes the side process knows of it */
  private final class Use(val expression: Expression, val isText: Boolean, @volatile var askers: Set[Option[String]]) {
    @volatile var recent = true
  }

  /** Scopes of code outside of this process. */
  private val Outside = Set("executor", "worker")
  private val Application = Some("application")
  private val MostTexts = 10000

  /** As long after a question of the watch what is held counts as the newest: this process may have slept. */
  private val NewestNanos = 12000L * 1000000
  private val WaitMs = 5000
  private val RetryMs = 200L
  private val UnplacedMs = 1000L
  private val ToldMs = 5000L
}
