package org.apache.spark.sql.sparkconfig

import java.util.{Map => JMap}

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.spark.SparkContext
import org.apache.spark.sparkconfig.access.Reflect

/** Whose sessions a Thrift server in this JVM serves. The server and its sessions are private to Spark and Hive. */
object ThriftSessions {

  private val Server = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2$"
  private val SingleSession = "spark.sql.hive.thriftServer.singleSession"
  private val loader = classOf[SparkContext].getClassLoader

  /** None where the JVM keeps `java.lang` closed. */
  private lazy val find = Try(Reflect.method(classOf[ClassLoader], "findLoadedClass", classOf[String])).toOption

  /** Whether this JVM has loaded the server's classes: no other application pays for them. */
  def isLoaded: Boolean = loaded.nonEmpty

  /** Whether the server's clients have the session of this id ([[SessionIds]]), be it one for all of them. */
  def serves(session: String): Boolean = contexts(session).nonEmpty

  /**
   * The user who opened the session of this id; None if the server does not know it, and where several users share one
   * session.
   *
   * @param session as [[SessionIds.of]] returns it
   */
  def user(session: String): Option[String] = contexts(session).collectFirst {
    case (sessions, handle, context) if !isShared(context) => userOf(open(sessions).get(handle))
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

  /** The manager of sessions, with each handle to this session and its context. */
  private def contexts(session: String): Iterator[(AnyRef, AnyRef, AnyRef)] = for {
    sessions <- manager.iterator
    each = Reflect.get(Reflect.get(sessions, "operationManager"), "sessionToContexts")
    (handle, context) <- each.asInstanceOf[JMap[AnyRef, AnyRef]].asScala.iterator
    if id(context) == session
  } yield (sessions, handle, context)

  private def loaded: Option[Class[_]] = find match {
    case Some(method) => Option(method.invoke(loader, Server).asInstanceOf[Class[_]])
    case None => Try[Class[_]](Class.forName(Server, true, loader)).toOption
  }

  private def manager: Option[AnyRef] = for {
    module <- loaded
    listener <- Option(Reflect.get(module.getField("MODULE$").get(null), "listener"))
    server <- Reflect.get(listener, "server").asInstanceOf[Option[AnyRef]]
  } yield Reflect.get(Reflect.get(server, "cliService"), "sessionManager")

  private def id(context: AnyRef): String = SessionIds.of(sessionOf(context))

  /** All users of the server have this one, so that it says nothing about who sent a statement. */
  private def isShared(context: AnyRef): Boolean = sessionOf(context).conf.get(SingleSession, "false").toBoolean

  /** 3.5 and 4.0 keep contexts, later Sparks sessions. */
  private def sessionOf(context: AnyRef): Sessions.Spark = context match {
    case session: Sessions.Spark => session
    case other => other.getClass.getMethod("sparkSession").invoke(other).asInstanceOf[Sessions.Spark]
  }
}
