package io.sparkconfig.executor

import java.util.concurrent.{ConcurrentHashMap, Executors, ThreadFactory}

import scala.collection.JavaConverters._

import io.sparkconfig.SparkConfigException
import io.sparkconfig.binding.{Expression, Snapshot, ValueSource}
import org.apache.spark.SparkContext

/**
 * The driver's answers to executors. [[answer]] runs on Spark's dispatcher thread and only reads memory: what
 * takes time happens when a generation is published, or on a thread of its own.
 */
private[sparkconfig] final class ExecutorService(sc: SparkContext, values: ValueSource) {
  import ExecutorService._

  private val key = SnapshotCipher.newKey()
  private val cipher = new SnapshotCipher(key)
  @volatile private var news: Option[SnapshotNews] = None
  private val retired = new RetiredBroadcasts
  @volatile private var broadcastsWork = false
  private val reach = new GenerationReach
  private val seen = new ConcurrentHashMap[String, Seen]()
  private val asked = new ConcurrentHashMap[(String, Boolean), Message]()
  private val pool = Executors.newSingleThreadExecutor(new ThreadFactory {
    override def newThread(task: Runnable): Thread = {
      val thread = new Thread(task, "sparkconfig-resolve")
      thread.setDaemon(true)
      thread
    }
  })

  /** Broadcasts work from now on. */
  def ready(): Unit = {
    broadcastsWork = true
    publish(values.snapshot)
  }

  /**
   * Makes a generation what executors get from now on, unless they get a newer one already; in local mode there are
   * none, and nothing to encrypt.
   */
  def publish(snapshot: Snapshot): Unit = if (!sc.isLocal) synchronized {
    if (news.forall(_.generation <= snapshot.generation)) {
      val bytes = cipher.encrypt(snapshot)
      val fresh =
        if (bytes.length <= InlineBytes || !broadcastsWork) new SnapshotNews(snapshot.generation, bytes, null)
        else new SnapshotNews(snapshot.generation, null, sc.broadcast(bytes))
      val old = news
      news = Some(fresh)
      reach.published(snapshot.generation, seen.keySet().asScala, System.currentTimeMillis())
      old.flatMap(each => Option(each.shared)).foreach(retired.add(_, bytes.length))
    }
  }

  /** What each executor knew when it asked last, by its id. */
  def executors: Map[String, Seen] = seen.asScala.toMap

  /** An executor is gone. */
  def forget(executor: String): Unit = {
    seen.remove(executor)
    reach.forget(executor, System.currentTimeMillis())
  }

  /** How far a generation has come among the executors that ran when it was published. */
  def reached(generation: Long): Option[Reached] = reach.of(generation)

  /** How many of the executors that still ask do not have the newest generation. */
  def behind(newest: Long, silentAfterMs: Long): Int = {
    val now = System.currentTimeMillis()
    seen.values().asScala.count(last => last.generation < newest && now - last.at <= silentAfterMs)
  }

  /** Answers a message on the wire; what is no message of ours gets no answer. */
  def answer(wire: Any): AnyRef = Messages.decode(wire).map(message => Messages.encode(reply(message))).orNull

  private def reply(message: Message): Message = message match {
    case AskSnapshot(known, executor) =>
      val now = System.currentTimeMillis()
      seen.put(executor, Seen(known, now))
      reach.has(executor, known, now)
      news.filter(_.generation > known).getOrElse(Unchanged)
    case AskKey => new Key(key)
    case AskExpression(text, siblings, worker) => expression(Expression.withSiblings(text, siblings), worker)
    case _ => Unchanged
  }

  def close(): Unit = {
    pool.shutdownNow()
    retired.close()
  }

  private def expression(wanted: Expression, worker: Boolean): Message =
    if (!worker && values.snapshot.get(wanted).isDefined) Ready(values.snapshot.generation)
    else {
      val question = (wanted.id, worker)
      val before = asked.putIfAbsent(question, Pending)
      if (before == null) { pool.submit(new Runnable { override def run(): Unit = take(wanted, worker) }); Pending }
      else {
        // An answer is given once: the next question is a new try.
        if (before != Pending) asked.remove(question, before)
        before
      }
    }

  private def take(wanted: Expression, worker: Boolean): Unit = {
    val result =
      try {
        if (worker) values.resolveForWorker(wanted) else values.resolve(wanted)
        if (values.snapshot.get(wanted).isDefined) Ready(values.snapshot.generation)
        else Plain
      } catch {
        case e: SparkConfigException => Refused(e.getMessage)
        case e: Exception => Refused(s"the driver failed with ${e.getClass.getSimpleName}")
      }
    asked.put((wanted.id, worker), result)
  }
}

/**
 * An executor's last question.
 *
 * @param at milliseconds since the epoch
 */
private[sparkconfig] final case class Seen(generation: Long, at: Long)

private object ExecutorService {
  /** Replies of this size cost less than a broadcast. */
  private val InlineBytes = 10 * 1024
}
