package io.sparkconfig.policy.doors

import java.util.concurrent.Executors
import java.util.concurrent.atomic.AtomicLong
import java.util.{Collections, WeakHashMap}

import scala.util.control.NonFatal

import io.sparkconfig.core.Threads
import io.sparkconfig.policy.{KeptConfs, PolicyClient}
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sparkconfig.{ConfGuard, GuardedConf, PolicyViolationException, Sessions}
import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}

/**
 * The confs of one session. A value is evaluated before it is set. What a session was made with, and what was taken
 * away, is evaluated at the next statement: that statement fails, what was refused is put back, and the session goes
 * on. With nothing changed a statement costs one look at the guard.
 *
 * @param clone made by Spark itself from another session, for a streaming query or to cache a table
 */
private final class SessionGuard(policies: PolicyClient, conf: SQLConf, clone: Boolean) extends ConfGuard {
  import SessionDoor.scopeOf

  private val changes = new AtomicLong(1)
  private val judged = new AtomicLong
  @volatile private var accepted = Map.empty[String, String]
  private var lost = Set.empty[String]

  override def setting(key: String, text: String): Unit =
    if ((isQuestion(key, text) || isHidden(key) && !SparkInternalConfs.isResetting) &&
      !(isFree(key, text) && SparkInternalConfs.isSetting)) {
      policies.check(scopeOf(key), Map(key -> Some(text)))
      synchronized { accepted += key -> text }
    }

  /** Or else the right value of the server's would be told by being accepted. */
  override def isHidden(key: String): Boolean = !policies.shows(key) && !LoginDoor.sets(key)

  /** The server's own text, unless it may be missing. RESET puts that back by itself. */
  override def remaining(key: String): Option[String] = policies.confs.get(key).filter { _ =>
    SparkInternalConfs.isResetting || {
      val refused = !policies.evaluate(scopeOf(key), Map(key -> GuardedConf.default(key))).allowed
      if (refused) synchronized { lost += key }
      refused
    }
  }

  override def standing: Map[String, String] = policies.confs

  override def removed(): Unit = changes.incrementAndGet(): Unit

  /** Before a statement. What comes meanwhile asks for itself: no lock is held over a question. */
  def check(): Unit = {
    val upTo = changes.get
    if (judged.get < upTo) judge(upTo)
  }

  private def judge(upTo: Long): Unit = {
    val texts = GuardedConf.texts(conf)
    val other = texts.collect { case (key, text) if isQuestion(key, text) && !isFree(key, text) => key -> Option(text) }
    val taken = synchronized { val found = lost; lost = Set.empty; found }
    val missing = (taken ++ policies.confs.keySet.filterNot(texts.contains)).map(key => key -> GuardedConf.default(key))
    val questions = (other ++ missing).groupBy { case (key, _) => scopeOf(key) }
    val verdicts = questions.toSeq.map { case (scope, props) => props -> policies.evaluate(scope, props) }
    val refused = verdicts.collect {
      case (props, verdict) if !verdict.allowed =>
        val named = props.keySet.intersect(verdict.names.toSet)
        if (named.isEmpty) props.keySet else named
    }.flatten.toSet
    val good = other.collect { case (key, Some(text)) if !refused(key) => key -> text }
    synchronized { accepted = good }
    GuardedConf.restore(conf, refused.map(key => key -> policies.confs.get(key)).toMap)
    judged.accumulateAndGet(upTo, math.max(_, _))
    if (refused.nonEmpty) {
      throw new PolicyViolationException(
        verdicts.map(_._2).filterNot(_.allowed).map(_.message).mkString("\n") +
          "\nThis was set in the session before this statement; the session has the application's values again.")
    }
  }

  private def isQuestion(key: String, text: String): Boolean =
    !policies.isUnchanged(key, text) && !accepted.get(key).contains(text)

  private def isFree(key: String, text: String): Boolean =
    clone && SparkInternalConfs.allows(text, GuardedConf.default(conf, key))
}

private[doors] object SessionDoor extends Door {
  override def name: String = "confs of sessions"

  override def asks: Seq[Asked] = Seq(
    Asked(
      "`SET`, `spark.conf.set`, `SET TIME ZONE`, `EXECUTE IMMEDIATE`, catalog confs of a session, a builder on a " +
        "running session",
      "before it is set",
      "before it is set",
      "before it is set"),
    Asked(
      "`RESET`, `spark.conf.unset`",
      "at the next statement; what was lost is put back",
      "the same",
      "the same"),
    Asked(
      "confs that a new session gets before it is watched, a moment after it was made",
      "at its first statement; what was refused is put back",
      "the same",
      "the same"),
    Asked(
      "confs that a view keeps (`view.sqlConfig.*`)",
      "before they are set",
      "the same",
      "before they are set"))

  override def open(session: SparkSessionExtensions): Unit = {
    FirstRules.inject(session)(new SessionRule(_))
    session.injectParser(SessionHook)
    session.injectPlannerStrategy(new SessionStrategy(_))
    session.injectPostHocResolutionRule(_ => KeptConfs.OfFunctions)
  }

  def scopeOf(key: String): String = if (key.startsWith("spark.sql.catalog.")) "catalog" else "session"

  private val watchers = Executors.newSingleThreadExecutor(Threads.factory("sparkconfig-session-door"))

  private val clones = Collections.synchronizedSet(
    Collections.newSetFromMap(new WeakHashMap[Sessions.Spark, java.lang.Boolean]()))

  /**
   * Guards a session as soon as its state stands. Nothing else tells of a new session, and inside the hook its
   * confs cannot be reached yet; what is set before this has run is evaluated at the first statement.
   */
  def watch(session: Sessions.Spark): Unit = {
    if (SparkInternalConfs.isCloning) clones.add(session)
    PolicyClient.running.foreach(_.began(session))
    watchers.execute { () =>
      try guard(session)
      catch { case NonFatal(_) => () } // the session failed to start, and says so itself
    }
  }

  /** Guards the session from its first statement on, and evaluates what changed since the last one. */
  def check(session: Sessions.Spark): Unit = guard(session).foreach(_.check())

  /** Before a session is asked to set a conf. */
  def setting(session: Sessions.Spark, key: String, text: String): Unit = guard(session).foreach(_.setting(key, text))

  private def guard(session: Sessions.Spark): Option[SessionGuard] = PolicyClient.running.flatMap { policies =>
    val conf = Sessions.classic(session).sessionState.conf
    if (GuardedConf.guard(conf).isEmpty) {
      GuardedConf.install(conf, new SessionGuard(policies, conf, clones.contains(session)))
    }
    GuardedConf.guard(conf).collect { case known: SessionGuard => known }
  }
}

/** The parser's hook, which is the first that Spark calls for a session. */
private object SessionHook extends ((SparkSession, ParserInterface) => ParserInterface) {
  override def apply(session: SparkSession, parser: ParserInterface): ParserInterface = {
    SessionDoor.watch(session)
    parser
  }
}

/** Looks at the session's confs when a statement is analysed. */
private final class SessionRule(session: Sessions.Spark) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = {
    SessionDoor.check(session)
    plan
  }
}

/** The same when a query that was analysed before is planned. */
private final class SessionStrategy(session: Sessions.Spark) extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = {
    SessionDoor.check(session)
    Nil
  }
}
