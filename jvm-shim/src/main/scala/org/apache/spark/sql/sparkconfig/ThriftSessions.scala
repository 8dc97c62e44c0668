package org.apache.spark.sql.sparkconfig

import java.util.{Map => JMap}

import scala.collection.JavaConverters._

import org.apache.spark.sparkconfig.access.Reflect

/** Whose sessions a Thrift server in this JVM serves. The server and its sessions are private to Spark and Hive. */
object ThriftSessions {
  private val Server = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2$"

  /**
   * The user who opened the session of this id ([[SessionIds]]); None outside of the server's own threads, and where
   * several users share one session.
   *
   * @param session as [[SessionIds.of]] returns it
   */
  def user(session: String): Option[String] =
    // No other application pays for the server's classes.
    if (!Thread.currentThread.getName.startsWith("HiveServer2-")) None
    else manager.flatMap { sessions =>
      val operations = Reflect.get(sessions, "operationManager")
      val contexts = Reflect.get(operations, "sessionToContexts").asInstanceOf[JMap[AnyRef, AnyRef]]
      contexts.asScala.collectFirst { case (handle, context) if id(context) == session => handle }.map { handle =>
        val found = Reflect.get(sessions, "handleToSession").asInstanceOf[JMap[AnyRef, AnyRef]].get(handle)
        found.getClass.getMethod("getUserName").invoke(found).asInstanceOf[String]
      }
    }

  private def manager: Option[AnyRef] = {
    val module = Class.forName(Server, true, Thread.currentThread.getContextClassLoader)
    for {
      listener <- Option(Reflect.get(module.getField("MODULE$").get(null), "listener"))
      server <- Reflect.get(listener, "server").asInstanceOf[Option[AnyRef]]
    } yield Reflect.get(Reflect.get(server, "cliService"), "sessionManager")
  }

  /** 3.5 and 4.0 keep contexts, later Sparks sessions. */
  private def id(context: AnyRef): String = context match {
    case session: Sessions.Spark => SessionIds.of(session)
    case other => SessionIds.of(other.getClass.getMethod("sparkSession").invoke(other).asInstanceOf[Sessions.Spark])
  }
}
