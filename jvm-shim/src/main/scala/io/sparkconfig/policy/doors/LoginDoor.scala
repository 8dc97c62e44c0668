package io.sparkconfig.policy.doors

import java.util.{Locale, Map => JMap}

import scala.collection.JavaConverters._

import io.sparkconfig.policy.StatementItem.statement
import io.sparkconfig.policy.{Requester, Verdict}

/**
 * What a client sends with its login to a Thrift server. Hive acts on it before there is a session: it sets Java's
 * system properties, leads its metastore elsewhere, and expands `${env:...}`. So a server that judges statements takes
 * the names that stand here, and Spark's confs, which the session's door judges; values are never expanded.
 */
private[sparkconfig] object LoginDoor {

  /** Of Hive's own confs these, which drivers send by themselves. */
  private val HiveConfs =
    Set("hive.server2.thrift.resultset.default.fetch.size", "hive.query.string", "hive.session.id")
  private val Conf = "(?:set:)?(?:hiveconf:)?(.+)".r
  private val SparkConf = "spark\\.(?!hadoop\\.|hive\\.).+"

  /** Kyuubi's driver says with these who it is; neither Hive nor Spark reads them. */
  private val KyuubiClient = "kyuubi\\.client\\.\\w+"

  /** Whether logins are judged. */
  def isAsked: Boolean = StatementDoor.asked.isDefined

  /** Why a login is refused, if it is. */
  def problem(user: String, configuration: JMap[String, String]): Option[String] = StatementDoor.asked.flatMap {
    policies =>
      val refused = Option(configuration).toSeq.flatMap(_.asScala).collect {
        case (key, value) if !isHarmless(key.trim, String.valueOf(value)) => statement("login-conf", key.trim)
      }
      val who = Requester(Option(user).mkString, "", Requester.Thrift)
      val verdict = if (refused.isEmpty) Verdict.Allowed else policies.statement(refused.toSet, who)
      if (verdict.allowed) None else Some(verdict.message)
  }

  private def isHarmless(key: String, value: String): Boolean =
    !value.contains("${") && !key.contains("${") && (key.toLowerCase(Locale.ROOT) match {
      case "use:database" => value.matches("[A-Za-z0-9_.`-]*")
      case name if name.startsWith("set:hivevar:") => true
      case Conf(name) if !name.contains(":") => HiveConfs(name) || name.matches(SparkConf) || key.matches(KyuubiClient)
      case _ => false
    })
}
