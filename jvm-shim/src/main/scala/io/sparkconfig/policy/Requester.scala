package io.sparkconfig.policy

import scala.util.Try

import org.apache.spark.SparkEnv
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.sparkconfig.{SessionIds, ThriftSessions}

/**
 * Who sent the statement that a policy is asked about. The side process decides whether its user counts as
 * authenticated, so that rules may be about him.
 *
 * @param user the user whom Spark Connect or the Thrift server names; empty where there is none
 * @param session the session's id
 * @param front the server that names the user, `connect` or `thrift`; empty where there is none
 */
private[sparkconfig] final case class Requester(user: String, session: String, front: String)

private[sparkconfig] object Requester {
  val Connect = "connect"
  val Thrift = "thrift"
  private val ConnectService = "org.apache.spark.sql.connect.service.SparkConnectService$"

  /** Whom a server names for a session; None: no server knows the session, as those that Spark itself clones. */
  def named(session: SparkSession): Option[Requester] = {
    val id = SessionIds.of(session)
    connectUser(id).orElse(Try(ThriftSessions.user(id)).toOption.flatten.map(Requester(_, id, Thrift)))
  }

  /**
   * Whether the session belongs to a server's client, or to all its clients, and not to this application's own code.
   * It does if a Thrift server is there and cannot be asked.
   */
  def isClient(session: SparkSession): Boolean =
    Try(ThriftSessions.serves(SessionIds.of(session))).getOrElse(true) || named(session).nonEmpty

  private val ConnectPlugin = "org.apache.spark.sql.connect.SparkConnectPlugin"
  @volatile private var serves = false

  /** A server of Connect has made its interceptors. */
  def connectStarts(): Unit = serves = true

  /** Spark Connect is not on every class path, and private to Spark. Where no server runs, it is not loaded at all. */
  private def connectUser(serverSession: String): Option[Requester] = if (!mayServe) None
  else Try {
    val service = Class.forName(ConnectService, false, Thread.currentThread().getContextClassLoader)
    val manager = service.getMethod("sessionManager").invoke(service.getField("MODULE$").get(null))
    val sessions = manager.getClass.getMethod("listActiveSessions").invoke(manager).asInstanceOf[Iterable[AnyRef]]
    sessions.find(text(_, "serverSessionId") == serverSession).map(found =>
      Requester(text(found, "userId"), text(found, "sessionId"), Connect))
  }.toOption.flatten

  private def mayServe: Boolean =
    serves || Option(SparkEnv.get).exists(_.conf.get("spark.plugins", "").contains(ConnectPlugin))

  private def text(info: AnyRef, name: String): String = String.valueOf(info.getClass.getMethod(name).invoke(info))
}
