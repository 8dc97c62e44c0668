package io.sparkconfig.policy

import java.util.{Collections, LinkedHashMap => JLinkedHashMap, Map => JMap}

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.node.ObjectNode
import io.sparkconfig.agent.AgentClient
import io.sparkconfig.core.{Expression, Json, PolicyRefusedException, PolicyStart, SparkConfigException, Values}
import org.apache.spark.sql.sparkconfig.PolicyViolationException
import org.slf4j.{Logger, LoggerFactory}

/**
 * Asks the brain's policies on behalf of every door of the running application.
 *
 * What a session was allowed is remembered for a while, since one plan is analysed several times; a new generation of
 * values is a new question, and so is another session, which may be another user's. What cannot be asked is refused.
 *
 * @param given the application's confs as the job gave them
 * @param now the same with what the operator and this package put in place
 * @param server what a Thrift server was started with besides, see [[ServerConfs]]
 */
private[sparkconfig] final class PolicyClient(
    client: AgentClient,
    start: PolicyStart,
    given: Map[String, String],
    now: Map[String, String],
    server: Map[String, String]) {

  import PolicyClient._

  private val audit: Option[Logger] = start.auditLogger.map(LoggerFactory.getLogger(_))
  private val allowed = Collections.synchronizedMap(new JLinkedHashMap[Any, Unit](64, 0.75f, true) {
    override def removeEldestEntry(eldest: JMap.Entry[Any, Unit]): Boolean = size() > Remembered
  })
  start.audit.foreach(record)

  def evaluatesTables: Boolean = start.evaluatesTables

  def evaluatesStatements: Boolean = start.evaluatesStatements

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
    else remembering((scope, props, streaming, formats, Values.snapshot.generation, Requester.session)) {
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
    val verdict = remembering(("use", scope, expressions.map(_.id), Requester.session)) {
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
   * Asks whether the references of a connection may go where it is about to be made.
   *
   * @param options all that decides about the connection, as it was written
   * @throws PolicyRefusedException naming what is refused
   */
  def connection(formats: Seq[String], options: Map[String, String]): Unit = {
    val verdict = remembering(("connection", formats, options)) {
      val question = Json.obj()
      question.put("op", "connection")
      putFormats(question, formats)
      Json.putMap(question, "options", options)
      ask(question)
    }
    if (!verdict.allowed) throw new PolicyRefusedException(verdict.message)
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
  def statement(items: Set[StatementItem]): Unit = if (items.nonEmpty) statement(items, Requester.current).raise()

  /** As above for who is known already, without raising. */
  def statement(items: Set[StatementItem], who: Option[Requester]): Verdict =
    if (items.isEmpty) Verdict.Allowed
    else remembering(("statement", items), who) {
      val question = Json.obj()
      question.put("op", "statement")
      val node = question.putArray("items")
      items.foreach(item => node.addArray().add(item.kind).add(item.name).add(item.detail))
      ask(question, who)
    }

  /** Rules may be about users: what one of them was allowed says nothing about another. */
  private def remembering(asked: Any)(verdict: => Verdict): Verdict = remembering(asked, Requester.current)(verdict)

  private def remembering(asked: Any, who: Option[Requester])(verdict: => Verdict): Verdict = {
    val key = (asked, who.map(each => (each.user, each.front)))
    if (allowed.containsKey(key)) Verdict.Allowed
    else {
      val found = verdict
      if (found.allowed) allowed.put(key, ())
      found
    }
  }

  private def ask(question: ObjectNode): Verdict = ask(question, Requester.current)

  private def ask(question: ObjectNode, requester: Option[Requester]): Verdict =
    try {
      requester.foreach { who =>
        question.put("user", who.user)
        question.put("session", who.session)
        question.put("front", who.front)
      }
      val answer = client.check(question)
      Json.texts(answer.get("audit")).foreach(record)
      Verdict(
        answer.path("allowed").asBoolean(false),
        answer.path("message").asText("the policy refuses this"),
        Option(answer.get("values")).toSeq.flatMap(_.elements().asScala).map(_.path("name").asText))
    } catch {
      case e: SparkConfigException =>
        Verdict(allowed = false, s"the operator's policy could not be asked, so this is refused: ${e.getMessage}", Nil)
    }

  private def record(text: String): Unit = audit.foreach(_.info(text))
}

/** @param names the properties that are refused, if it is about properties */
private[sparkconfig] final case class Verdict(allowed: Boolean, message: String, names: Seq[String]) {
  def raise(): Unit = if (!allowed) throw new PolicyViolationException(message)
}

private[sparkconfig] object Verdict {
  val Allowed: Verdict = Verdict(allowed = true, "", Nil)
}

private[sparkconfig] object PolicyClient {
  private val Remembered = 512
  @volatile private var current: Option[PolicyClient] = None

  /** None: no policies, and no doors. */
  def running: Option[PolicyClient] = current

  /** Writes the side process's own records to the logger that the operator named. */
  def record(texts: Seq[String]): Unit = running.foreach(policies => texts.foreach(policies.record))

  def open(policies: PolicyClient): Unit = current = Some(policies)

  def close(): Unit = current = None
}
