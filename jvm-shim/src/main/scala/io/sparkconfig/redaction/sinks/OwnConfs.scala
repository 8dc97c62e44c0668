package io.sparkconfig.redaction.sinks

import java.util.regex.Pattern
import java.util.{LinkedHashMap, Map => JMap, WeakHashMap}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.command.{RunnableCommand, SetCommand}

/** Confs that a client has set itself, as far as they are remembered: these answers are its own text. */
private[sinks] final class OwnConfs {
  import OwnConfs._

  private val known = new LinkedHashMap[String, String](16, 0.75f, true) {
    override def removeEldestEntry(eldest: JMap.Entry[String, String]): Boolean = size > Limit
  }

  def note(key: String, value: String): Unit =
    if (value.length <= Longest) known.synchronized(known.put(key, value.trim))

  def knows(key: String, value: String): Boolean = known.synchronized(value.trim == known.get(key))
}

private[sinks] object OwnConfs {
  private val Limit = 10000
  private val Longest = 8192

  /** `SET key = value`, as Spark takes it apart: a key may be quoted, the value is the rest. Blanks do not count. */
  private val Statement = Pattern.compile("(?is)\\s*SET\\s+(?:`((?:[^`]|``)+)`|([^\\s=`]+))\\s*=\\s*(.*?)[\\s;]*")

  /** Key and value that a statement sets. */
  def setBy(statement: String): Option[(String, String)] = {
    val set = Statement.matcher(if (statement.length <= 2 * Longest) statement else "")
    if (!set.matches()) None
    else Some(Option(set.group(1)).map(_.replace("``", "`")).getOrElse(set.group(2)) -> set.group(3))
  }
}

/** What `SET key` answers to the session that has set this key to this text: the text. */
private[sinks] object SessionConfs {
  private val sessions = new WeakHashMap[SparkSession, OwnConfs]()

  /** The mask of a command's answer, but for the session's own text. */
  def except(command: RunnableCommand, mask: Answers.Mask): Answers.Mask = command match {
    case SetCommand(Some((key, value))) =>
      SparkSession.getActiveSession.filterNot(isShared).fold(mask) { session =>
        val own = of(session)
        // As the client wrote it: Spark's variable substitution may have brought a secret into the value.
        val written = command.origin.sqlText.flatMap(OwnConfs.setBy).filter(_._1 == key).map(_._2.trim)
        (rows, output) => {
          value.filter(text => written.contains(text.trim)).foreach(own.note(key, _))
          val isOwn = rows.size == 1 && rows.head.numFields == 2 && !rows.head.isNullAt(1) &&
            own.knows(key, rows.head.getUTF8String(1).toString)
          if (isOwn) rows else mask(rows, output)
        }
      }
    case _ => mask
  }

  /**
   * Remembers what a client has set in the URL by which it opened this session, as Hive's drivers send it:
   * `set:hiveconf:key` for what is behind the `?`, `set:hivevar:key` for what is behind the `#`.
   */
  def opened(session: SparkSession, configuration: JMap[String, String]): Unit =
    if (!isShared(session) && configuration != null) {
      val own = of(session)
      configuration.forEach { (name, value) =>
        if (name.startsWith(Prefix) && value != null) own.note(Kinds.matcher(name).replaceFirst(""), value)
      }
    }

  private val Prefix = "set:"
  private val Kinds = Pattern.compile("^set:(?:hiveconf:|hivevar:)?")

  private def of(session: SparkSession): OwnConfs =
    sessions.synchronized(sessions.computeIfAbsent(session, _ => new OwnConfs))

  /** Whether all clients of a Thrift server have this session. */
  private def isShared(session: SparkSession): Boolean =
    session.sparkContext.getConf.getBoolean("spark.sql.hive.thriftServer.singleSession", defaultValue = false)
}
