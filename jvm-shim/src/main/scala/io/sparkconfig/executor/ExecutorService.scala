package io.sparkconfig.executor

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicBoolean

import scala.collection.JavaConverters._

import io.sparkconfig.core.{Expression, Fingerprint, Snapshot, SparkConfigException, Threads, ValueSource}
import org.apache.spark.SparkContext
import org.slf4j.LoggerFactory

/**
 * The driver's answers to executors. [[answer]] runs on Spark's dispatcher thread and only reads memory: what
 * takes time happens when a generation is published, or on a thread of its own.
 *
 * @param renew asks the stores of expressions whose values were refused; see [[Renewals]]
 */
private[sparkconfig] final class ExecutorService(
    sc: SparkContext,
    values: ValueSource,
    renew: Iterable[String] => Long) {
  import ExecutorService._

  private val log = LoggerFactory.getLogger(classOf[ExecutorService])
  private val key = SnapshotCipher.newKey()
  private val cipher = new SnapshotCipher(key)

  /** Of connections, for the grants of tasks. */
  val fingerprint: Fingerprint = cipher.fingerprint

  @volatile private var news: Option[SnapshotNews] = None
  private val history = new MaskHistory

  /** An executor that masks this many values finds the others in the snapshot. */
  @volatile private var covered = 0L
  @volatile private var allRetired: Option[Retired] = None
  private val packing = new AtomicBoolean
  private val retired = new RetiredBroadcasts
  @volatile private var broadcastsWork = false
  private val seen = new ConcurrentHashMap[String, Seen]()
  private val asked = new ConcurrentHashMap[Any, Answer]()
  private val pool = Threads.pool("sparkconfig-resolve", MostAtOnce)

  private val renewals = new Renewals(renew, pool)
  private val pushes = new Pushes(() => news.map(new Pushed(_, covered)))

  /** What a task that is submitted now may hold or use, whether executors can have it already or not. */
  def state: ExecutorState = ExecutorState(values.snapshot.generation, history.count)

  /** Broadcasts work from now on. */
  def ready(): Unit = {
    broadcastsWork = true
    pushes.start()
    // Once more, now through a broadcast if it is large.
    if (!sc.isLocal) pack(values.snapshot)
    pushes.tell()
  }

  /** Tasks that are submitted from now on may hold these values. Memory only: executors get them with [[publish]]. */
  def learn(secrets: Iterable[String]): Unit = if (!sc.isLocal) history.add(secrets)

  /**
   * Makes a generation, and what was learned, what executors get from now on, unless they get a newer one already; in
   * local mode there are none, and nothing to encrypt.
   */
  def publish(snapshot: Snapshot): Unit = if (!sc.isLocal) {
    learn(snapshot.secretValues)
    if (news.forall(_.generation < snapshot.generation)) pack(snapshot)
    synchronized {
      news.foreach { last =>
        // What came since is not in the bytes of this generation.
        val (count, fresh) = history.since(last.masks)
        if (fresh.nonEmpty) {
          covered = count
          news = Some(new SnapshotNews(last.generation, last.inline, last.shared, count))
        }
      }
    }
    pushes.tell()
  }

  private def pack(snapshot: Snapshot): Unit = {
    val bytes = cipher.encrypt(snapshot)
    val secrets = snapshot.secretValues.toSet
    val shared = if (bytes.length <= InlineBytes || !broadcastsWork) null else sc.broadcast(bytes)
    val replaced = synchronized {
      if (news.exists(_.generation > snapshot.generation)) shared
      else {
        val old = news
        val before = old.fold(0L)(_.masks)
        val (count, fresh) = history.since(before)
        if (!fresh.forall(secrets)) covered = count
        else if (old.forall(_.generation < snapshot.generation)) covered = before
        news = Some(new SnapshotNews(snapshot.generation, if (shared == null) bytes else null, shared, count))
        old.map(_.shared).orNull
      }
    }
    if (replaced != null) retired.add(replaced, bytes.length)
  }

  /** What each executor knew when it asked last, by its id. */
  def executors: Map[String, Seen] = seen.asScala.toMap

  /** Whether an executor gets news without asking. */
  def pushesTo(executor: String): Boolean = pushes.reach(executor)

  /** An executor is gone. */
  def forget(executor: String): Unit = {
    seen.remove(executor)
    pushes.forget(executor)
  }

  /**
   * After how many milliseconds an executor asks whether it has missed news that were pushed to it. However many there
   * are, all of them together ask no more than [[ExecutorService.AsksASecond]] times a second.
   */
  def askAgainMs: Long = math.max(LeastAskMs, seen.size * 1000L / AsksASecond)

  /** How many of the executors that still ask do not have the newest generation. */
  def behind(newest: Long, silentAfterMs: Long): Int = {
    val now = System.currentTimeMillis()
    seen.values().asScala.count(last => last.generation < newest && now - last.at <= silentAfterMs)
  }

  /** Answers a message on the wire; what is not a message of ours gets no answer. */
  def answer(wire: Any): AnyRef = Messages.decode(wire) match {
    case Some(Have(executor, state)) => has(executor, state); null
    case message => message.map(each => Messages.encode(reply(each))).orNull
  }

  private def reply(message: Message): Message = message match {
    case AskSnapshot(known, masks, executor) =>
      has(executor, ExecutorState(known, masks))
      news.filter(newest => newest.generation > known || newest.masks > masks)
        .map(newest => if (masks >= covered) newest else withRetired(newest, masks)).getOrElse(Unchanged(askAgainMs))
    case AskRenewal(ids, ticket) => renewals.reply(ids, ticket)
    case listen: Listen =>
      pushes.listen(listen.executor, listen.reference)
      Listening
    case AskKey => new Key(key)
    case AskExpressions(wanted, worker) =>
      expressions(wanted.map { case (text, siblings) => Expression.withSiblings(text, siblings) }, worker)
    case _ => Unchanged(askAgainMs)
  }

  private def has(executor: String, state: ExecutorState): Unit = {
    val now = System.currentTimeMillis()
    seen.put(executor, Seen(state.generation, now))
    pushes.has(executor, state)
  }

  def close(): Unit = {
    pushes.close()
    pool.shutdownNow()
    retired.close()
  }

  /** News for an executor that has missed some; the little that it usually is comes at once. */
  private def withRetired(newest: SnapshotNews, masks: Long): Message =
    allRetired.filter(_.masks >= covered) match {
      case Some(all) => newest.withRetired(all)
      case None =>
        val (count, missed) = history.since(masks)
        if (missed.map(_.length.toLong).sum <= MissedChars || !broadcastsWork)
          newest.withRetired(new Retired(count, cipher.encrypt(count, missed), null))
        else {
          if (packing.compareAndSet(false, true)) pool.submit(new Runnable { override def run(): Unit = packRetired() })
          Pending
        }
    }

  /** All retired values as a broadcast, for every executor that starts from now on. */
  private def packRetired(): Unit =
    try {
      val (count, all) = history.since(0)
      val bytes = cipher.encrypt(count, all)
      val old = allRetired
      allRetired = Some(new Retired(count, null, sc.broadcast(bytes)))
      old.foreach(each => retired.add(each.shared, bytes.length))
    } catch {
      case e: Exception => log.warn("retired values cannot be handed to executors: {}", e.getClass.getName)
    } finally packing.set(false)

  private def expressions(wanted: Seq[Expression], worker: Boolean): Message = later((wanted.map(_.id), worker)) {
    val used = if (worker) values.useForWorker(wanted) else values.useForExecutor(wanted)
    val newest = values.snapshot
    val texts = wanted.indices.filter(i => used.texts(wanted(i).id)).toSet
    val ids = wanted.map(_.id).toSet
    // What is in a file travels with it.
    val part = if (newest.files.isEmpty) newest.only(ids) else newest
    new Ready(newest.generation, cipher.encrypt(part), texts)
  }

  /**
   * Answers on a thread of its own; until then the question is asked again. An answer goes only to
   * those who wait for it: one left over from an executor that died is not given to a later question.
   */
  private def later(question: Any)(answer: => Message): Message = {
    val now = System.nanoTime()
    val before = asked.get(question)
    if (before == null || before.isOld(now)) {
      if (asked.size > MostAsked) asked.values.removeIf(_.isOld(now))
      val mine = new Answer
      asked.put(question, mine)
      pool.submit(new Runnable { override def run(): Unit = mine.set(attempted(answer)) })
      Pending
    } else {
      // It is given once: the next question is a new try.
      if (before.message != Pending) asked.remove(question, before)
      before.message
    }
  }

  private def attempted(answer: => Message): Message =
    try answer
    catch {
      case e: SparkConfigException => Refused(e.getMessage)
      case e: Exception => Refused(s"the driver failed with ${e.getClass.getSimpleName}")
    }
}

/**
 * An executor's last question.
 *
 * @param at milliseconds since the epoch
 */
private[sparkconfig] final case class Seen(generation: Long, at: Long)

private object ExecutorService {
  private val MostAsked = 1000

  /** This many stores may hang before a question to another one waits. */
  private val MostAtOnce = 32
  private val OldNanos = 5L * 1000000000

  /** Executors ask every few milliseconds while they wait. */
  private final class Answer {
    @volatile var message: Message = Pending
    @volatile private var at = 0L

    def set(given: Message): Unit = { at = System.nanoTime(); message = given }

    def isOld(now: Long): Boolean = message != Pending && now - at > OldNanos
  }

  private val LeastAskMs = 60000L
  private val AsksASecond = 20

  /** Replies of this size cost less than a broadcast. */
  private val InlineBytes = 10 * 1024

  /** What an executor has missed is for it alone, and seldom more than a few values. */
  private val MissedChars = 64L * 1024
}
