package io.sparkconfig.policy

import java.util.{Collections, WeakHashMap}

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.sparkconfig.{SessionIds, Sessions, ThriftSessions}

/**
 * Who sent the statement that a policy is asked about. The side process decides whether its user counts as
 * authenticated, so that rules may be about him.
 *
 * @param user the user whom Spark Connect or the Thrift server names; empty where there is none
 * @param session the session's id
 * @param front the server that names the user, `connect` or `thrift`; empty where there is none
 */
private[policy] final case class Requester(user: String, session: String, front: String)

private[policy] object Requester {
  val Connect = "connect"
  val Thrift = "thrift"
  private val ConnectService = "org.apache.spark.sql.connect.service.SparkConnectService$"

  /** Sessions of Connect belong to one user for ever. */
  private val known = Collections.synchronizedMap(new WeakHashMap[SparkSession, Requester]())

  /**
   * The requester of the session that is active in this thread; None outside of sessions. A clone that Spark makes, to
   * cache a frame or for a stream, is its parent's user's.
   */
  def current: Option[Requester] =
    try SparkSession.getActiveSession.flatMap(session => Option(known.get(session)).orElse(find(session)))
    catch { case NonFatal(_) => None }

  /** The session that is active in this thread, which is one user's. */
  def session: Option[String] =
    try SparkSession.getActiveSession.flatMap(session => Try(SessionIds.of(session)).toOption)
    catch { case NonFatal(_) => None }

  private def find(session: SparkSession): Option[Requester] = Try(SessionIds.of(session)).toOption.map { id =>
    val connect = connectUser(id)
    connect.foreach(known.put(session, _))
    connect.orElse(thriftUser(id).map(Requester(_, id, Thrift)))
      .orElse(Try(Sessions.parent(session)).toOption.flatten.flatMap(find))
      .getOrElse(Requester("", id, ""))
  }

  private def thriftUser(session: String): Option[String] = Try(ThriftSessions.user(session)).toOption.flatten

  /** Spark Connect is not on every class path, and private to Spark. */
  private def connectUser(serverSession: String): Option[Requester] = Try {
    val service = Class.forName(ConnectService, false, Thread.currentThread().getContextClassLoader)
    val manager = service.getMethod("sessionManager").invoke(service.getField("MODULE$").get(null))
    val sessions = manager.getClass.getMethod("listActiveSessions").invoke(manager).asInstanceOf[Iterable[AnyRef]]
    sessions.find(text(_, "serverSessionId") == serverSession).map(found =>
      Requester(text(found, "userId"), text(found, "sessionId"), Connect))
  }.toOption.flatten

  private def text(info: AnyRef, name: String): String = String.valueOf(info.getClass.getMethod(name).invoke(info))
}
