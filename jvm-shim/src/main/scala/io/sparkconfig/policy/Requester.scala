package io.sparkconfig.policy

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.sparkconfig.{SessionIds, ThriftSessions}

/**
 * Who sent the statement that a policy is asked about, for the audit and the page Config. No rule decides by it.
 *
 * @param user the user whom Spark Connect or the Thrift server names; empty where nobody does
 * @param session the session's id
 */
private[policy] final case class Requester(user: String, session: String)

private[policy] object Requester {
  private val ConnectService = "org.apache.spark.sql.connect.service.SparkConnectService$"

  /** The requester of the session that is active in this thread; None outside of sessions. */
  def current: Option[Requester] =
    try SparkSession.getActiveSession.flatMap(session => Try(SessionIds.of(session)).toOption).map { id =>
        connectUser(id).getOrElse(Requester(thriftUser(id), id))
      }
    catch { case NonFatal(_) => None }

  private def thriftUser(session: String): String = Try(ThriftSessions.user(session)).toOption.flatten.getOrElse("")

  /** Spark Connect is not on every class path, and private to Spark. */
  private def connectUser(serverSession: String): Option[Requester] = Try {
    val service = Class.forName(ConnectService, false, Thread.currentThread().getContextClassLoader)
    val manager = service.getMethod("sessionManager").invoke(service.getField("MODULE$").get(null))
    val sessions = manager.getClass.getMethod("listActiveSessions").invoke(manager).asInstanceOf[Iterable[AnyRef]]
    sessions.find(text(_, "serverSessionId") == serverSession).map(found =>
      Requester(text(found, "userId"), text(found, "sessionId")))
  }.toOption.flatten

  private def text(info: AnyRef, name: String): String = String.valueOf(info.getClass.getMethod(name).invoke(info))
}
