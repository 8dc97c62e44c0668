package org.apache.spark.sql.sparkconfig

import java.util.{AbstractMap, Collections, HashMap => JHashMap, Map => JMap, Set => JSet}

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.spark.sparkconfig.access.{ConnectorCode, Reflect}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SQLConf

/** The confs of sessions, for connectors that read them there: they get values under their prefixes. */
object ConnectorConfs {
  private[sparkconfig] type Value = (String, String) => Option[String]
  private[sparkconfig] type Check = (String, String) => Unit
  @volatile private var held: Option[(Value, ConnectorCode, Check)] = None

  /** @param check throws if a connector or Hadoop would use the text of a key */
  def hold(value: Value, connectors: ConnectorCode, check: Check): Unit =
    held = Some((value, connectors, check))

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

  /**
   * Idempotent, and cheap once it is done; later guards of the session go below it. What was set before the first
   * statement and cannot stand is taken away: that statement fails, and the session goes on.
   */
  def install(session: Sessions.Spark): Unit = held.foreach { case (value, connectors, check) =>
    val conf = Sessions.classic(session).sessionState.conf
    var isNew = false
    GuardedConf.wrap(conf) {
      case known: ConnectorSettings => known
      case plain => isNew = true; new ConnectorSettings(plain, value, connectors, check)
    }
    if (isNew) {
      val refused = for {
        (key, text) <- GuardedConf.texts(conf)
        problem <- Try(check(key, text)).failed.toOption
      } yield key -> problem.getMessage
      if (refused.nonEmpty) {
        GuardedConf.restore(conf, refused.map { case (key, _) => key -> None })
        throw new OptionReferenceException(refused.values.mkString("\n") +
          "\nThis was set in the session before this statement; the session goes on without it.")
      }
    }
  }
}

/** A session's settings; nothing is kept here, so that every change reaches `below`. */
private final class ConnectorSettings(
    @volatile var below: JMap[String, String],
    value: ConnectorConfs.Value,
    connectors: ConnectorCode,
    check: ConnectorConfs.Check)
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

  /** The policies come first. */
  override def put(key: String, text: String): String = {
    val before = below.put(key, text)
    try check(key, text)
    catch { case e: Exception => GuardedConf.restore(below, key, Option(before)); throw e }
    before
  }
  override def containsKey(key: AnyRef): Boolean = below.containsKey(key)
  override def remove(key: AnyRef): String = below.remove(key)
  override def clear(): Unit = below.clear()
  override def size(): Int = below.size()
}
