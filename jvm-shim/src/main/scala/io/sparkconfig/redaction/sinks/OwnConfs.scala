package io.sparkconfig.redaction.sinks

import java.util.regex.Pattern
import java.util.{LinkedHashMap, Map => JMap}

import io.sparkconfig.policy.Requester
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.sparkconfig.SessionIds

/** Confs that sessions have set themselves, as far as they are remembered: these answers are their own text. */
private[sinks] object OwnConfs {
  private val Limit = 10000
  private val Longest = 8192

  private val known = new LinkedHashMap[String, String](16, 0.75f, true) {
    override def removeEldestEntry(eldest: JMap.Entry[String, String]): Boolean = size > Limit
  }

  /** @param session as [[ofConnect]] or [[current]] returns it */
  def note(session: String, key: String, value: String): Unit =
    if (value.length <= Longest) known.synchronized(known.put(session + key, value.trim))

  def knows(session: String, key: String, value: String): Boolean =
    known.synchronized(value.trim == known.get(session + key))

  /** Once the session has what the server has. */
  def forget(session: String, key: Option[String]): Unit = known.synchronized {
    key.fold(known.keySet.removeIf(_.startsWith(session)))(name => known.remove(session + name) != null)
    ()
  }

  def ofConnect(user: String, session: String): String = s"${user}\u0000${session}\u0000"

  /** The session that is active in this thread; None where all clients of a Thrift server have the same. */
  def current: Option[String] = SparkSession.getActiveSession.filterNot(isShared).map { session =>
    Requester.named(session).filter(_.front == Requester.Connect)
      .fold(of(session))(client => ofConnect(client.user, client.session))
  }

  /**
   * Remembers what a client has set in the URL by which it opened this session, as Hive's drivers send it:
   * `set:hiveconf:key` for what is behind the `?`, `set:hivevar:key` for what is behind the `#`.
   */
  def opened(session: SparkSession, configuration: JMap[String, String]): Unit =
    if (!isShared(session) && configuration != null) configuration.forEach { (name, value) =>
      if (name.startsWith(Prefix) && value != null) note(of(session), Kinds.matcher(name).replaceFirst(""), value)
    }

  private val Prefix = "set:"
  private val Kinds = Pattern.compile("^set:(?:hiveconf:|hivevar:)?")

  /** `SET key = value`, as Spark takes it apart: a key may be quoted, the value is the rest. Blanks do not count. */
  private val Statement = Pattern.compile("(?is)\\s*SET\\s+(?:`((?:[^`]|``)+)`|([^\\s=`]+))\\s*=\\s*(.*?)[\\s;]*")

  /** Key and value that a statement sets. */
  def setBy(statement: String): Option[(String, String)] = {
    val set = Statement.matcher(if (statement.length <= 2 * Longest) statement else "")
    if (!set.matches()) None
    else Some(Option(set.group(1)).map(_.replace("``", "`")).getOrElse(set.group(2)) -> set.group(3))
  }

  private def of(session: SparkSession): String = s"${SessionIds.of(session)}\u0000"

  private def isShared(session: SparkSession): Boolean =
    session.sparkContext.getConf.getBoolean("spark.sql.hive.thriftServer.singleSession", defaultValue = false)
}
