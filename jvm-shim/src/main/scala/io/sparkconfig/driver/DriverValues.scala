package io.sparkconfig.driver

import java.util.concurrent.atomic.AtomicLong
import java.util.{LinkedHashMap => JLinkedHashMap, Map => JMap}

import scala.collection.JavaConverters._

import io.sparkconfig.agent.AgentClient
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
import org.slf4j.LoggerFactory

/**
 * The driver's values. Each use gets the newest: from the snapshot if there is proof that it still holds, else from the
 * side process. While that is down, the last snapshot serves until `spark.config.stale.expiry`.
 */
private[sparkconfig] final class DriverValues(client: AgentClient, first: Snapshot) extends ValueSource {
  import DriverValues._

  private val log = LoggerFactory.getLogger(classOf[DriverValues])
  private val publishing = new Object
  private val changed = new Object
  @volatile private var held = first
  @volatile private var listener: Snapshot => Unit = (_: Snapshot) => ()
  @volatile private var closed = false
  private val inUse = new Recent
  private val proven = new ProvenUses
  private val lastAnswerAt = new AtomicLong(System.nanoTime())
  private val watcher = Threads.daemon("sparkconfig-watch")(watchLoop())

  client.onRestart(() => (held, inUse.all))

  override def snapshot: Snapshot = held

  override def refresh(): Boolean = {
    val before = held.generation
    ask(Nil)
    held.generation > before
  }

  override def resolve(expression: Expression): String = resolveAll(Seq(expression)).head

  override def use(expressions: Seq[Expression]): Used = useAs(None, expressions, None)

  override def resolveForWorker(expression: Expression): String = resolveAs(Some("worker"), Seq(expression)).head

  override def resolveForExecutor(expression: Expression): String =
    useAs(None, Seq(expression), Some("executor")).values.head

  override def resolveNamed(expressions: Seq[Expression]): Seq[String] = resolveAs(Some("application"), expressions)

  override def allowConnection(formats: Seq[String], options: Map[String, String]): Unit = {
    NamedConnections.requireOwn(options)
    PolicyClient.running.foreach(_.connection(formats, options))
  }

  override def renew(refused: Used): Used = Renewal.until(refused) { () =>
    // Somebody else may have been refused before.
    if (!Used.of(held, refused.expressions).sameAs(refused)) 0L else renewIds(refused.expressions.map(_.id))
  } {
    // Not `held` alone: what was not asked for since a thousand others is in no snapshot.
    if (refused.expressions.forall(held.get(_).isDefined)) Used.of(held, refused.expressions)
    else use(refused.expressions)
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
   * Values requested by name: the policy evaluates the references in that scope.
   *
   * @param scope None: a point of use, whose options or confs a door has evaluated
   * @throws io.sparkconfig.core.PolicyRefusedException the policy refuses one of them
   */
  def resolveAs(scope: Option[String], expressions: Seq[Expression]): Seq[String] =
    useAs(scope, expressions, scope).values

  /** @param asker whom the side process answers: workers and executors may have less than the driver */
  private def useAs(scope: Option[String], expressions: Seq[Expression], asker: Option[String]): Used = {
    PolicyClient.running.foreach(_.use(scope, expressions))
    // What executors and workers may have, the side process checks each time.
    val outside = asker.exists(ProvenUses.Outside)
    if (!outside && client.changes.exists(proven.hold(expressions, asker, _))) {
      // Read after the proofs, which hold for this snapshot and for newer ones.
      val known = held
      // One may have lost its value since.
      if (expressions.forall(known.get(_).isDefined)) {
        lastAnswerAt.lazySet(System.nanoTime())
        return Used.of(known, expressions)
      }
    }
    val newest =
      try ask(expressions, asker)
      catch {
        case down: AgentUnavailableException => lastGood(expressions).getOrElse(throw down)
        case unplaced: FilePlacementException =>
          val known = held
          if (expressions.forall(known.get(_).isDefined)) known else throw unplaced
      }
    expressions.foreach(inUse.used)
    Used.of(newest, expressions)
  }

  /** Asks every store, whether due or not. */
  def refreshAll(): Unit = accept(client.refresh(held))

  /** Gives the generation held, as soon as it is newer than `known`, or after `waitMs`. */
  def awaitGeneration(known: Long, waitMs: Long): Long = changed.synchronized {
    val end = System.nanoTime() + waitMs * 1000000
    var left = waitMs
    while (held.generation <= known && left > 0 && !closed) {
      changed.wait(left)
      left = (end - System.nanoTime()) / 1000000
    }
    held.generation
  }

  /** What happens at each new generation, in order, one at a time. */
  def onChange(action: Snapshot => Unit): Unit = publishing.synchronized {
    listener = action
    action(held)
  }

  /** Begins to wait for changes that the side process sees by itself. */
  def watch(): Unit = watcher.start()

  def close(): Unit = {
    closed = true
    watcher.interrupt()
  }

  private def ask(expressions: Seq[Expression], scope: Option[String] = None): Snapshot = {
    val answer = client.resolve(expressions, scope, held, proven.takeTouched())
    lastAnswerAt.set(System.nanoTime())
    accept(answer.snapshot)
    // Only now: what they prove is in the snapshot that is held.
    proven.add(answer.proofs, scope)
    // The answer itself, not what is held: it is the one that was read for this use.
    answer.snapshot
  }

  /** Newer never gives way to older: answers of two threads may cross. Both are used, so both are registered first. */
  private def accept(news: Snapshot): Unit = publishing.synchronized {
    if (news.generation != held.generation) Redactor.register(news.secretValues, news.generation)
    if (news.generation > held.generation) {
      held = news
      try listener(news)
      catch {
        case e: Exception => log.error("generation {} could not be published: {}", news.generation, e.getClass.getName)
      }
      changed.synchronized { changed.notifyAll() }
    }
  }

  /** What is held, if it has all of these and is not too old for them. */
  private def lastGood(expressions: Seq[Expression]): Option[Snapshot] = {
    val ageMs = (System.nanoTime() - lastAnswerAt.get()) / 1000000
    Some(held).filter(known =>
      expressions.isEmpty || ageMs <= client.settings.staleExpiryMs && expressions.forall(known.get(_).isDefined))
  }

  private def watchLoop(): Unit = while (!closed) {
    try {
      val change = client.awaitChange(held, WaitMs)
      PolicyClient.record(change.audit)
      change.snapshot.foreach(accept)
      lastAnswerAt.set(System.nanoTime())
      LocalFiles.tidy()
    } catch {
      case _: InterruptedException => closed = true
      case _: FilePlacementException => // it is logged
        try Thread.sleep(UnplacedMs)
        catch { case _: InterruptedException => closed = true }
      case e: Exception =>
        if (!closed) {
          log.debug("no news from the side process: {}", e.getClass.getSimpleName)
          try Thread.sleep(RetryMs)
          catch { case _: InterruptedException => closed = true }
        }
    }
  }
}

private object DriverValues {

  /** The expressions asked for last, no more than the side process keeps (`in_use.MOST_IN_USE`). */
  private final class Recent {
    private val byId = new JLinkedHashMap[String, Expression](64, 0.75f, true) {
      override def removeEldestEntry(eldest: JMap.Entry[String, Expression]): Boolean = size > MostInUse
    }
    def used(expression: Expression): Unit = synchronized(byId.put(expression.id, expression))
    def all: List[Expression] = synchronized(byId.values().asScala.toList)
  }

  private val MostInUse = 1000
  private val WaitMs = 30000
  private val RetryMs = 200L
  private val UnplacedMs = 1000L
}
