package io.sparkconfig.policy.doors

import java.util.{Locale, Map => JMap}

import scala.collection.JavaConverters._

import io.sparkconfig.policy.Requester
import io.sparkconfig.policy.StatementItem.statement
import org.apache.spark.sql.sparkconfig.ThriftSessions

/**
 * What a client sends with its login to a Thrift server. Hive acts on it before there is a session: it sets Java's
 * system properties, leads its metastore elsewhere, and expands `${env:...}`. So a server that judges statements takes
 * the names that a surface file lists, and Spark's confs, which the session's door judges; values are never expanded.
 */
private[sparkconfig] object LoginDoor {

  /** A session gets a variable of HiveQL as a conf, too, which one with a dot can be. */
  private val Conf = raw"(?:set:)?(?:hiveconf:|hivevar:(?=.*\.))?([^:]+)".r

  /** Whether logins are judged. */
  def isAsked: Boolean = StatementDoor.asked.isDefined

  /** Why a login is refused, if it is. */
  def problem(user: String, configuration: JMap[String, String]): Option[String] = StatementDoor.asked.flatMap {
    policies =>
      val given = Option(configuration).toSeq.flatMap(_.asScala).map { case (key, value) =>
        key.trim -> String.valueOf(value)
      }
      val refused = given.collect { case (key, value) if !isHarmless(key, value) => statement("login-conf", key) }
      val who = Requester(Option(user).mkString, "", Requester.Thrift)
      // The session that they are for is not guarded yet, see [[SessionGuard.isHidden]].
      val hidden = given.collect {
        case (key, value) if nameOf(key).startsWith("spark.") && !policies.shows(nameOf(key)) =>
          nameOf(key) -> Option(value)
      }
      val verdicts = hidden.map { case (key, text) => policies.evaluate(SessionDoor.scopeOf(key), Map(key -> text)) }
      val more = policies.moreSessions(ThriftSessions.count(who.user))
      (policies.statement(refused.toSet ++ more, who) +: verdicts).find(!_.allowed).map(_.message)
  }

  private def nameOf(key: String): String = key match {
    case Conf(conf) => conf
    case other => other
  }

  /** Whether this thread opens a session, which gets the server's confs of Hive again, and only Spark's of a client. */
  def sets(key: String): Boolean = !key.startsWith("spark.") &&
    StackWalker.getInstance().walk[Boolean](_.anyMatch(frame =>
      frame.getMethodName == "openSession" && frame.getClassName.endsWith(".SparkSQLSessionManager")))

  private def isHarmless(key: String, value: String): Boolean =
    !value.contains("${") && !key.contains("${") && {
      SqlSurface.login.of(nameOf(key.toLowerCase(Locale.ROOT))).map(_.kind) match {
        case Some("harmless") => true
        case Some("reads:name") => value.matches("[A-Za-z0-9_.`-]*")
        case _ => false
      }
    }
}
