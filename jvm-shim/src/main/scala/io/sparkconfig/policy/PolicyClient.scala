package io.sparkconfig.policy

import java.util.{Collections, Locale, WeakHashMap}

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode
import io.sparkconfig.agent.AgentClient
import io.sparkconfig.core.{
  Expression,
  Fingerprint,
  Json,
  PolicyRefusedException,
  PolicyStart,
  SparkConfigException,
  Values
}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.sparkconfig.{PolicyViolationException, SessionIds, Sessions}
import org.slf4j.{Logger, LoggerFactory}

/**
 * Asks the brain's policies on behalf of every door of the running application.
 *
 * What a session was allowed is in its [[Grants]], which are asked first: one plan is analysed several times, and what
 * opens a connection comes long after. A new generation of values is a new question. What cannot be asked is refused.
 *
 * @param check asks the brain one question
 * @param given the application's confs as the job gave them
 * @param now the same with what the operator and this package put in place
 * @param server what a Thrift server was started with besides, see [[ServerConfs]]
 * @param fingerprint of connections, the same on driver and executors
 */
private[sparkconfig] final class PolicyClient(
    check: ObjectNode => JsonNode,
    start: PolicyStart,
    given: Map[String, String],
    now: Map[String, String],
    server: Map[String, String],
    fingerprint: Fingerprint) {
  import PolicyClient._

  private val audit: Option[Logger] = start.auditLogger.map(LoggerFactory.getLogger(_))
  private val operator = new Grants(None, () => None, None)

  /** What is allowed to whom no session names: no session has it for that, see [[Verdict.everyones]]. */
  private val nameless = new Grants(None, () => None, None)
  private val sessions = Collections.synchronizedMap(new WeakHashMap[SparkSession, Grants])
  start.audit.foreach(record)

  def evaluatesTables: Boolean = start.evaluatesTables

  def evaluatesStatements: Boolean = start.evaluatesStatements

  /** Of a shared server, see [[SharedFiles]]. */
  def paths: Option[Seq[String]] = start.paths

  private val shown = start.confs.map(new ShownConfs(_))

  /** Whether users see what the server has for a conf. */
  def shows(key: String): Boolean = shown.forall(_.shows(key))

  /** The operator's surface files, beside those of this jar. */
  def surface: Seq[String] = start.surface

  /**
   * What is asked about besides where a user gets a session: each takes memory of the driver for as long as it is open.
   *
   * @param open how many the user has
   */
  def moreSessions(open: => Int): Set[StatementItem] =
    if (start.sessions == Int.MaxValue || open < start.sessions) Set.empty
    else {
      val advice = "end those that are not in use, for example by spark.stop() or by closing their connections"
      Set(StatementItem.statement("more-sessions", s"spark.config.user.sessions=${start.sessions} are open; $advice"))
    }

  /** The application's confs, which every session begins with. */
  def confs: Map[String, String] = now

  /** Whether this is what the application was started with, so that there is nothing to ask. */
  def isUnchanged(key: String, text: String): Boolean =
    Seq(now, given, server).exists(_.get(key).contains(text))

  /**
   * Asks about properties; None takes one away.
   *
   * @param scope where they are set: `application`, `session`, `source`, `sink`, `catalog`, `hadoop`
   * @param formats of options: what their data source is called
   * @throws PolicyViolationException listing every violation
   */
  def check(
      scope: String,
      props: Map[String, Option[String]],
      streaming: Boolean = false,
      formats: Seq[String] = Nil): Unit =
    evaluate(scope, props, streaming, formats).raise()

  /** As [[check]], without raising. */
  def evaluate(
      scope: String,
      props: Map[String, Option[String]],
      streaming: Boolean = false,
      formats: Seq[String] = Nil): Verdict =
    if (props.isEmpty) Verdict.Allowed
    else remembering((scope, props, streaming, formats, Values.snapshot.generation)) {
      val question = Json.obj()
      question.put("op", "check")
      question.put("scope", scope)
      question.put("streaming", streaming)
      putFormats(question, formats)
      val node = question.putObject("props")
      props.foreach { case (key, text) => node.put(key, text.orNull) }
      ask(question)
    }

  /**
   * Asks whether these references may be used. The answer hangs on their texts and the session,
   * so it stays good while values change or the side process starts again.
   *
   * @param scope `application` for the driver's own code, `worker` for Python workers; None: a point of use, whose
   *              options or confs a door has evaluated in its own scope
   * @throws PolicyRefusedException naming every reference that is refused
   */
  def use(scope: Option[String], expressions: Seq[Expression]): Unit = if (expressions.nonEmpty) {
    val verdict = remembering(("use", scope, expressions.map(_.id))) {
      val question = Json.obj()
      question.put("op", "use")
      scope.foreach(question.put("scope", _))
      val items = question.putArray("expressions")
      expressions.foreach(expression => AgentClient.write(items.addObject(), expression))
      ask(question)
    }
    if (!verdict.allowed) throw new PolicyRefusedException(verdict.message)
  }

  /**
   * Whether a connection may be made, and its references may go there. A task asks nothing: it has what its job was
   * submitted with.
   *
   * @param options all that decides about the connection, as it was written
   * @param judged  the options that rules decide about, unless they are a catalog's
   * @return false: this is a task, and its session has no grant
   * @throws PolicyRefusedException naming what is refused
   */
  def connection(formats: Seq[String], options: Map[String, String], judged: Seq[String]): Boolean = {
    val wanted = fingerprint.of(options, formats)
    val mine = grants
    Grants.ofTask(wanted).getOrElse {
      if (!mine.opens(wanted) && !operator.opens(wanted)) {
        val question = Json.obj()
        question.put("op", "connection")
        putFormats(question, formats)
        Json.putMap(question, "options", options)
        if (evaluatesStatements && !isOfCatalog(options, judged)) {
          val names = question.putArray("judged")
          judged.foreach(names.add(_))
        }
        val verdict = ask(question, mine.requester)
        if (!verdict.allowed) throw new PolicyRefusedException(verdict.message)
        (if (verdict.everyones) operator else mine).open(wanted)
      }
      true
    }
  }

  /** Whether the application has had a catalog of these options from its start: so they are the operator's. */
  private def isOfCatalog(options: Map[String, String], judged: Seq[String]): Boolean =
    catalogs.exists(catalog =>
      judged.forall(name => catalog.get(name.toLowerCase(Locale.ROOT)).contains(options(name))))

  private lazy val catalogs: Seq[Map[String, String]] = Seq(given, now).flatMap { confs =>
    confs.toSeq.collect { case (Catalog(name, option), text) => name -> (option.toLowerCase(Locale.ROOT) -> text) }
      .groupBy(_._1).values.map(_.map(_._2).toMap)
  }

  /** For a job that is submitted now, see [[Grants.Property]]; `before` is what this thread has inherited, or null. */
  def forTasks(before: String): String = {
    val session = SparkSession.getActiveSession.orElse(if (before == null) SparkSession.getDefaultSession else None)
    val own = session.map(of(_).text).getOrElse(Option(before).getOrElse("").takeWhile(_ != ';'))
    s"$own;${if (session.isEmpty) nameless.text else ""};${operator.text}"
  }

  private def putFormats(question: ObjectNode, formats: Seq[String]): Unit = if (formats.nonEmpty) {
    val names = question.putArray("formats")
    formats.foreach(names.add(_))
  }

  /** Asks about a new table. */
  def table(question: ObjectNode): Unit = {
    question.put("op", "create_table")
    ask(question).raise()
  }

  /**
   * Asks about a statement and what it names.
   *
   * @throws PolicyViolationException naming everything that is refused
   */
  def statement(items: Set[StatementItem]): Unit = if (items.nonEmpty) {
    remembering(("statement", items))(ask(question(items))).raise()
  }

  /** As above for somebody whose session Spark does not know yet, without raising. */
  def statement(items: Set[StatementItem], who: Requester): Verdict =
    if (items.isEmpty) Verdict.Allowed
    else remembering(("statement", items, who.user, who.front), nameless)(ask(question(items), Some(who)))

  private def question(items: Set[StatementItem]): ObjectNode = {
    val made = Json.obj()
    made.put("op", "statement")
    val node = made.putArray("items")
    items.foreach(item => node.addArray().add(item.kind).add(item.name).add(item.detail).add(item.shown))
    made
  }

  private def remembering(asked: Any)(verdict: => Verdict): Verdict = remembering(asked, grants)(verdict)

  private def remembering(asked: Any, grants: Grants)(verdict: => Verdict): Verdict =
    if (grants.allows(asked)) Verdict.Allowed
    else {
      val found = verdict
      // Memory must not grow with the length of what users send.
      if (found.allowed && asked.toString.length <= PolicyClient.Longest) grants.allow(asked)
      found
    }

  /** Those of the session that is active in this thread. */
  private def grants: Grants =
    try SparkSession.getActiveSession.fold(nameless)(of)
    catch { case NonFatal(_) => nameless }

  private def of(session: SparkSession): Grants = Option(sessions.get(session)).getOrElse {
    val unnamed = Requester("", SessionIds.of(session), "")
    val made = new Grants(Sessions.parent(session).map(of), named(session), Some(unnamed))
    Option(sessions.putIfAbsent(session, made)).getOrElse(made)
  }

  /** Spark begins to make a session: one that is a clone begins with a copy of what the other has been allowed. */
  def began(session: SparkSession): Unit = of(session)

  /** A server is asked for its session's user without keeping the session. */
  private def named(session: SparkSession): () => Option[Requester] = {
    val weak = new java.lang.ref.WeakReference(session)
    () => Option(weak.get).flatMap(Requester.named)
  }

  private def ask(question: ObjectNode): Verdict = ask(question, grants.requester)

  private def ask(question: ObjectNode, requester: Option[Requester]): Verdict =
    try {
      requester.foreach { who =>
        question.put("user", who.user)
        question.put("session", who.session)
        question.put("front", who.front)
      }
      val answer = check(question)
      Json.texts(answer.get("audit")).foreach(record)
      Verdict(
        answer.path("allowed").asBoolean(false),
        answer.path("message").asText("the policy refuses this"),
        Json.texts(answer.get("names")),
        answer.path("everyones").asBoolean(false))
    } catch {
      case e: SparkConfigException =>
        Verdict(allowed = false, s"the operator's policy could not be asked, so this is refused: ${e.getMessage}", Nil)
    }

  private def record(text: String): Unit = audit.foreach(_.info(text))
}

/**
 * @param names the properties that are refused, if it is about properties
 * @param everyones allowed by the operator's own text, in any session
 */
private[sparkconfig] final case class Verdict(
    allowed: Boolean,
    message: String,
    names: Seq[String],
    everyones: Boolean = false) {
  def raise(): Unit = if (!allowed) throw new PolicyViolationException(message)
}

private[sparkconfig] object Verdict {
  val Allowed: Verdict = Verdict(allowed = true, "", Nil)
}

private[sparkconfig] object PolicyClient {
  private val Longest = 20000
  @volatile private var current: Option[PolicyClient] = None
  private val Catalog = raw"spark\.sql\.catalog\.([^.]+)\.(.+)".r

  /** None: no policies, and no doors. */
  def running: Option[PolicyClient] = current

  /** Writes the side process's own records to the logger that the operator named. */
  def record(texts: Seq[String]): Unit = running.foreach(policies => texts.foreach(policies.record))

  def open(policies: PolicyClient): Unit = current = Some(policies)

  def close(): Unit = current = None
}
