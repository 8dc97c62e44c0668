package io.sparkconfig.driver

import java.util.{Collection => JCollection, LinkedHashMap => JLinkedHashMap, Map => JMap}

import scala.collection.JavaConverters._

import io.sparkconfig.core.{Expression, Json, SparkConfigException, Used, Values}
import io.sparkconfig.redaction.engine.{ForPython, Redactor}
import io.sparkconfig.ui.QueryRestartEvent

/** What the driver's own code may ask: PySpark reaches it through Py4J, Scala and Java directly. */
object DriverApi {

  /**
   * The newest value of a text with references. It is a secret: keep it out of logs and plans.
   *
   * @throws SparkConfigException the text has no reference, or an incomplete one: it would come back as if it
   *                              were the secret
   */
  def current(text: String): String = {
    val isWhole = Expression.mayHold(text) && !Expression.isHalf(text)
    val used = if (isWhole) named(Seq(Expression(text))) else Used.Nothing
    if (used.values.isEmpty || used.texts.nonEmpty) throw new SparkConfigException(
      "the text given to current() holds no reference that a provider answers, or a '${' without a colon or a brace " +
        "at its end; write one, such as ${vault:db/prod:password}. A conf's name is not a reference: pass the " +
        "conf's value.")
    used.values.head
  }

  /** As [[current]], for Python: a JSON object with the `value`. */
  def currentJson(text: String): String = Json.write(Json.obj().put("value", current(text)))

  /** As [[currentJson]], after the text's stores were asked, due or not. */
  def freshJson(text: String): String = {
    if (Expression.mayHold(text)) driver.useFresh(Seq(Expression(text)))
    currentJson(text)
  }

  /** The newest values of a whole map, all of one generation. */
  def configs(map: JMap[String, String]): JMap[String, String] = {
    val texts = map.asScala.toSeq.filter { case (_, text) => Expression.mayHold(text) }
    val values = named(texts.map { case (_, text) => Expression.of(text, map.asScala) }).values
    val result = new JLinkedHashMap[String, String](map)
    texts.map(_._1).zip(values).foreach { case (key, value) => result.put(key, value) }
    result
  }

  /**
   * As [[configs]], a JSON object both ways: Python's bridge would need a call for each entry of a map. `plain` are
   * the keys of what is not a secret, such as the path of a file.
   */
  def configsJson(map: String): String = {
    val given = new JLinkedHashMap[String, String]()
    Json.fields(Json.parse(map)).foreach { case (key, node) => given.put(key, node.asText) }
    val answer = Json.putMap(Json.obj(), "values", configs(given).asScala)
    val plain = answer.putArray("plain")
    val newest = Values.snapshot
    given.asScala.foreach { case (key, text) =>
      val expression = Expression.of(text, given.asScala)
      if (newest.get(expression).isDefined && !newest.secrets(expression.id)) plain.add(key)
    }
    Json.write(answer)
  }

  /** The generation that this driver has published last. */
  def generation: Long = Values.snapshot.generation

  /** Waits for a generation newer than `known`; returns the newest, which may be the known one. */
  def awaitGeneration(known: Long, waitMs: Long): Long = driver.awaitGeneration(known, waitMs)

  /** Reads every store now, whether it is due or not. */
  def refresh(): Long = { driver.refreshAll(); generation }

  /** `spark.config.reload.action` of this application. */
  def reloadAction: String = Application.running.map(_.agent.settings.reloadAction).getOrElse("refresh")

  /** A managed query was started again: says so to Spark's listeners. The text is a JSON object. */
  def queryRestarted(restart: String): Unit = {
    val node = Json.parse(restart)
    Application.running.foreach(_.queryRestarted(QueryRestartEvent(
      System.currentTimeMillis(),
      node.get("query").asText,
      node.get("generation").asLong,
      Json.texts(node.get("changed")),
      node.get("seconds").asDouble,
      node.get("attempts").asInt)))
  }

  /** References, providers, executors and their state, as JSON without values. */
  def status: String = Application.running.map(each => Json.write(each.state.toJson)).getOrElse("{}")

  /** What this JVM masks, and has forgotten, after the first `count` news: the driver's Python does so, too. */
  def maskedValues(count: Long): String = {
    val news = ForPython.since(count)
    val answer = Json.obj()
    answer.put("count", news.count)
    val values = answer.putArray("values")
    news.values.foreach(values.add(_))
    val forgotten = answer.putArray("forgotten")
    news.forgotten.foreach(forgotten.add(_))
    Json.write(answer)
  }

  /** A file whose eight bytes are the number of these news by now; once for a Python. Empty: there is none. */
  def valueCounter(): String = ForPython.counter()

  /**
   * Masks values that the driver's Python resolved by itself, here and on executors. A collection, which SQL's
   * `reflect` cannot pass: who only sends statements must not choose what pages hide.
   */
  def mask(values: JCollection[String]): Unit = {
    Redactor.registerAll(values)
    Application.running.foreach(_.mask(values.asScala.toSeq))
  }

  /** The side process's id, or -1 while none runs. */
  def agentPid: Long = Application.running.flatMap(_.agent.pid).getOrElse(-1L)

  /** How often the side process was started again. */
  def agentRestarts: Int = Application.running.map(_.agent.restartCount).getOrElse(0)

  /** Policies see the driver's own code as the application, and executors' code as a Python worker. */
  private def named(expressions: Seq[Expression]): Used =
    Application.running.map(_.values.useNamed(expressions)).getOrElse(Values.useNamed(expressions))

  private def driver: DriverValues = Application.running.map(_.values).getOrElse(
    throw new SparkConfigException("sparkconfig does not run in this process"))
}
