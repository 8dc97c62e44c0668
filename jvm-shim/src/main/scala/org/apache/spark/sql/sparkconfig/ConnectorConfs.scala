package org.apache.spark.sql.sparkconfig

import java.util.{AbstractMap, Collections, HashMap => JHashMap, Map => JMap, Set => JSet}

import scala.collection.JavaConverters._

import io.sparkconfig.core.{Expression, Readers, SparkConfigException}
import org.apache.spark.sparkconfig.access.{ConnectorCode, Reflect}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SQLConf

/** The confs of sessions, for connectors that read them there: they get values under their prefixes. */
object ConnectorConfs {
  private[sparkconfig] type Value = (String, String) => Option[String]
  private[sparkconfig] type Problem = (String, String) => Option[String]
  @volatile private var held: Option[(Value, ConnectorCode, Problem)] = None

  /** @param problem why a connector would use the text of a key; None: it would not */
  def hold(value: Value, connectors: ConnectorCode, problem: Problem): Unit =
    held = Some((value, connectors, problem))

  def release(): Unit = held = None

  /**
   * Called when a connector asks for the application's conf, for it reads the session's next: in 3.5 the first query
   * of a session connects before any of our rules has seen that session.
   */
  def prepare(): Unit =
    (SparkSession.getActiveSession ++ SparkSession.getDefaultSession).filter(isBuilt).foreach(install)

  /** Not while Spark is building it, which asks for the conf too. */
  private def isBuilt(session: Sessions.Spark): Boolean =
    Reflect.field(classOf[Sessions.Classic], "sessionState").get(Sessions.classic(session)) != null

  /** Idempotent, and cheap once it is done; later guards of the session go below it. */
  def install(session: Sessions.Spark): Unit = held.foreach { case (value, connectors, problem) =>
    val conf = Sessions.classic(session).sessionState.conf
    GuardedConf.wrap(conf) {
      case known: ConnectorSettings => known
      case plain =>
        // What was set before the first statement.
        plain.synchronized(plain.asScala.toMap).foreach { case (key, text) => refuse(key, text, problem) }
        new ConnectorSettings(plain, value, connectors, problem)
    }
  }

  /** @throws SparkConfigException a connector reads the key by itself, and would use the text of the reference */
  private[sparkconfig] def refuse(key: String, text: String, problem: Problem): Unit =
    if (Expression.mayHold(text) && Readers.isOfConnector(key)) {
      problem(key, text).foreach(why => throw new SparkConfigException(s"$why."))
    }
}

/** A session's settings; nothing is kept here, so that whatever changes them changes `below`. */
private final class ConnectorSettings(
    @volatile var below: JMap[String, String],
    value: ConnectorConfs.Value,
    connectors: ConnectorCode,
    problem: ConnectorConfs.Problem)
  extends AbstractMap[String, String] {

  override def get(key: AnyRef): String = {
    val text = below.get(key)
    if (text == null || text.indexOf('$') < 0) text
    else {
      val name = key.asInstanceOf[String]
      if (!connectors.mayHave(name, text) || !connectors.asking().exists(name.startsWith)) text
      else value(name, text).getOrElse(text)
    }
  }

  override def entrySet(): JSet[JMap.Entry[String, String]] = {
    val texts = below.synchronized(new JHashMap[String, String](below))
    val own = texts.asScala.filter { case (key, text) => connectors.mayHave(key, text) }.toMap
    if (own.nonEmpty) {
      val prefixes = connectors.asking()
      own.foreach { case (key, text) =>
        if (prefixes.exists(key.startsWith)) value(key, text).foreach(texts.put(key, _))
      }
    }
    Collections.unmodifiableMap[String, String](texts).entrySet()
  }

  override def put(key: String, text: String): String = {
    ConnectorConfs.refuse(key, text, problem)
    below.put(key, text)
  }
  override def containsKey(key: AnyRef): Boolean = below.containsKey(key)
  override def remove(key: AnyRef): String = below.remove(key)
  override def clear(): Unit = below.clear()
  override def size(): Int = below.size()
}
