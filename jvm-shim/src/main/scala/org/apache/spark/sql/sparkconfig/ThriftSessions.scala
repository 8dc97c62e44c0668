package org.apache.spark.sql.sparkconfig

import java.util.{Map => JMap}

import scala.collection.JavaConverters._

import org.apache.spark.sparkconfig.access.Reflect

/** Whose sessions a Thrift server in this JVM serves. The server and its sessions are private to Spark and Hive. */
object ThriftSessions {

  /** How the names of threads begin in which a server runs statements. */
  val Threads = "HiveServer2-"
  private val Server = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2$"
  private val SingleSession = "spark.sql.hive.thriftServer.singleSession"

  /**
   * The user who opened the session of this id ([[SessionIds]]); None outside of the server's own threads, and where
   * several users share one session.
   *
   * @param session as [[SessionIds.of]] returns it
   */
  def user(session: String): Option[String] =
    // No other application pays for the server's classes.
    if (!Thread.currentThread.getName.startsWith(Threads)) None
    else manager.flatMap { sessions =>
      val operations = Reflect.get(sessions, "operationManager")
      val contexts = Reflect.get(operations, "sessionToContexts").asInstanceOf[JMap[AnyRef, AnyRef]]
      contexts.asScala.collectFirst {
        case (handle, context) if id(context) == session && !isShared(context) => handle
      }.map { handle =>
        userOf(open(sessions).get(handle))
      }
    }

  /** How many sessions of this user are open. */
  def count(user: String): Int = manager.fold(0)(open(_).values.asScala.count(userOf(_) == user))

  private def open(sessions: AnyRef): JMap[AnyRef, AnyRef] =
    Reflect.get(sessions, "handleToSession").asInstanceOf[JMap[AnyRef, AnyRef]]

  private def userOf(session: AnyRef): String =
    session.getClass.getMethod("getUserName").invoke(session).asInstanceOf[String]

  /**
   * Keeps what came by `--jars`: a session that ends closes the class loader that its statements ran with, and those
   * above it up to one that Hive takes for the server's own. From here on that is the first of them.
   */
  def keepClasses(hive: AnyRef, session: Sessions.Spark): Unit =
    Reflect.field(hive.getClass, "parentLoader").set(hive, Sessions.classic(session).sharedState.jarClassLoader)

  private def manager: Option[AnyRef] = {
    val module = Class.forName(Server, true, Thread.currentThread.getContextClassLoader)
    for {
      listener <- Option(Reflect.get(module.getField("MODULE$").get(null), "listener"))
      server <- Reflect.get(listener, "server").asInstanceOf[Option[AnyRef]]
    } yield Reflect.get(Reflect.get(server, "cliService"), "sessionManager")
  }

  private def id(context: AnyRef): String = SessionIds.of(sessionOf(context))

  /** All users of the server have this one, so that it says nothing about who sent a statement. */
  private def isShared(context: AnyRef): Boolean = sessionOf(context).conf.get(SingleSession, "false").toBoolean

  /** 3.5 and 4.0 keep contexts, later Sparks sessions. */
  private def sessionOf(context: AnyRef): Sessions.Spark = context match {
    case session: Sessions.Spark => session
    case other => other.getClass.getMethod("sparkSession").invoke(other).asInstanceOf[Sessions.Spark]
  }
}
