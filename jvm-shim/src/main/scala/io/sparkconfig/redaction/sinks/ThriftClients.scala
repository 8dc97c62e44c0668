package io.sparkconfig.redaction.sinks

import java.lang.reflect.{InvocationHandler, InvocationTargetException, Method, Proxy}
import java.util.{Map => JMap}

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import io.sparkconfig.core.Threads
import io.sparkconfig.policy.doors.{KeptRemarks, LoginDoor, LoginTransport}
import io.sparkconfig.redaction.engine.{Client, Redactor, Throwables}
import org.apache.hive.service.cli.session.HiveSession
import org.apache.hive.service.cli.{
  CLIService,
  FetchOrientation,
  FetchType,
  HiveSQLException,
  OperationHandle,
  OperationStatus,
  SessionHandle
}
import org.apache.hive.service.rpc.thrift.{TProtocolVersion, TRowSet, TTableSchema}
import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.sql.sparkconfig.ThriftSessions
import org.apache.spark.sql.{SQLContext, SparkSession}
import org.apache.spark.{SparkConf, SparkThrowable}
import org.slf4j.LoggerFactory

/** Masks values in the errors that clients of a Thrift server in this JVM get. */
private[sparkconfig] object ThriftClients extends Sink {
  override def name: String = "Thrift clients"

  override def install: PartialFunction[Stage, Unit] = {
    case Stage.Driver(settings) => watch(settings)
    case Stage.Session(extensions) => extensions.injectParser { (_, parser) => attempt(); parser }
  }

  private val log = LoggerFactory.getLogger("io.sparkconfig.redaction.sinks.ThriftClients")
  private val Server = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
  @volatile private var installed = false
  @volatile private var conf: Option[SparkConf] = None

  /**
   * Called at the start of each session, which is when the server stands and before the session's first statement.
   * @throws IllegalStateException if there is a server whose errors cannot be reached, unless
   *                               `spark.config.redaction.require=false`
   */
  private def attempt(): Unit = if (!installed && serves) synchronized {
    if (!installed)
      try hook()
      catch {
        case fault @ (NonFatal(_) | _: LinkageError) =>
          val message = s"errors for Thrift clients cannot be redacted: ${fault.getClass.getName}: ${fault.getMessage}"
          if (conf.forall(_.getBoolean(EventLogListener.RequireKey, defaultValue = true)))
            throw new IllegalStateException(s"$message. Set ${EventLogListener.RequireKey}=false to go on without it.")
          if (LoginDoor.isAsked)
            throw new IllegalStateException(s"$message; the policies could not judge logins, so nothing goes on.")
          log.warn(s"$message; going on since ${EventLogListener.RequireKey}=false")
          installed = true
      }
  }

  private def hook(): Unit = server().filter(!LoginDoor.isAsked || LoginTransport.limit(_)).foreach { service =>
    val cli = Reflect.field(service.getClass, "cliService")
    cli.get(service) match {
      case _: RedactingCli =>
      case plain: CLIService => cli.set(service, new RedactingCli(plain))
      case other => throw new IllegalStateException(s"the Thrift server answers through a ${other.getClass.getName}")
    }
    installed = true
  }

  /**
   * Waits for the server, if this JVM was started to be one: a session that all clients share stands before it. A
   * server that cannot be redacted ends its process with status 1.
   */
  private def watch(settings: SparkConf): Unit = {
    conf = Some(settings)
    if (isMain) {
      Threads.daemon("sparkconfig-thrift-clients") {
        try while (!installed) { attempt(); Thread.sleep(20) }
        catch {
          case wrong: IllegalStateException =>
            log.error(wrong.getMessage)
            System.exit(1) // Spark's hooks stop the context; a mere stop would end this process as if all were well
        }
      }.start()
    }
  }

  private lazy val isMain: Boolean = System.getProperty("sun.java.command", "").contains(Server)

  def serves: Boolean = isMain || ThriftSessions.isLoaded

  /** The service behind the port, once it is there. */
  private def server(): Option[AnyRef] = {
    val module = Class.forName(Server + "$", true, Thread.currentThread.getContextClassLoader)
    val listener = Reflect.get(Reflect.field(module, "MODULE$").get(null), "listener")
    Option(listener).map { found =>
      val hive = Reflect.get(found, "server").asInstanceOf[Option[AnyRef]].orNull
      Reflect.get(hive, "thriftCLIService")
    }
  }
}

// Apart from the object above, which every application loads: not every Spark has the server's classes.
private object ThriftErrors {

  /** The same instance if no value is in it. */
  def redact(error: HiveSQLException, writer: Client): HiveSQLException = {
    val client = writer.ofError(states(error))
    if (error == null || (Throwables.redact(error, client) eq error)) error
    else {
      val text = Redactor.redact(error.getMessage, client)
      val cause = Throwables.redact(error.getCause, client)
      val safe = new HiveSQLException(text, error.getSQLState, error.getErrorCode, cause)
      safe.setStackTrace(error.getStackTrace)
      safe
    }
  }

  private def states(error: Throwable): Seq[String] =
    Iterator.iterate(error)(_.getCause).takeWhile(_ != null).take(Throwables.Limit).map {
      case spark: SparkThrowable => spark.getSqlState
      case hive: HiveSQLException => hive.getSQLState
      case _ => null
    }.toSeq
}

/** The server's own service with its state, and with sessions whose errors are redacted as its own are. */
private final class RedactingCli(service: CLIService) extends CLIService(null) {
  Reflect.instanceFields(classOf[CLIService]).foreach(field => field.set(this, field.get(service)))

  /** Who has started an operation, by its id. */
  private val clients = new Client.ById

  private def safely[T](client: Client)(call: => T): T =
    try call
    catch {
      case error: HiveSQLException => throw ThriftErrors.redact(error, client)
      case error: Exception =>
        val safe = Throwables.redact(error, client)
        throw (if (safe eq error) error else new HiveSQLException(safe))
    }

  private def clientOf(operation: OperationHandle): Client = clients.get(idOf(operation))

  private def idOf(operation: OperationHandle): String = operation.getHandleIdentifier.getPublicId.toString

  /** The session, whose errors are redacted. */
  private def redacting(session: HiveSession): HiveSession = {
    val handler = new InvocationHandler {
      override def invoke(proxy: AnyRef, method: Method, arguments: Array[AnyRef]): AnyRef = {
        val given = Option(arguments).getOrElse(Array.empty[AnyRef])
        val client = new Client(given.collect { case text: String => text })
        val answer = safely(client)(
          try method.invoke(session, given: _*)
          catch { case e: InvocationTargetException => throw e.getCause })
        answer match {
          case operation: OperationHandle => clients.put(idOf(operation), client)
          case _ =>
        }
        answer
      }
    }
    Proxy.newProxyInstance(classOf[HiveSession].getClassLoader, Array[Class[_]](classOf[HiveSession]), handler)
      .asInstanceOf[HiveSession]
  }

  override def openSession(
      protocol: TProtocolVersion,
      user: String,
      password: String,
      address: String,
      configuration: JMap[String, String]): SessionHandle = {
    judge(user, configuration)
    opened(service.openSession(protocol, user, password, address, configuration), configuration)
  }

  override def openSessionWithImpersonation(
      protocol: TProtocolVersion,
      user: String,
      password: String,
      address: String,
      configuration: JMap[String, String],
      token: String): SessionHandle = {
    judge(user, configuration)
    opened(
      service.openSessionWithImpersonation(protocol, user, password, address, configuration, token),
      configuration)
  }

  /** Before Hive acts on it. */
  private def judge(user: String, configuration: JMap[String, String]): Unit =
    LoginDoor.problem(user, configuration).foreach(text => throw new HiveSQLException(text, "42501"))

  private def opened(open: => SessionHandle, configuration: JMap[String, String]): SessionHandle = {
    val handle = safely(new Client(Option(configuration).toSeq.flatMap(_.values.asScala)))(open)
    Reflect.get(service.getSessionManager, "handleToSession").asInstanceOf[JMap[SessionHandle, HiveSession]]
      .computeIfPresent(handle, (_, session) => redacting(session))
    // Without the session, what its client has set in the URL is masked to it.
    val session =
      try sparkSession(handle)
      catch { case _: IllegalStateException => None }
    session.foreach { found =>
      OwnConfs.opened(found, configuration)
      ThriftSessions.keepClasses(service.getSessionManager.getSession(handle).getSessionState, found)
    }
    handle
  }

  private def sparkSession(handle: SessionHandle): Option[SparkSession] = {
    val sessions = Reflect.get(service.getSessionManager.getOperationManager, "sessionToContexts")
    sessions.asInstanceOf[JMap[SessionHandle, AnyRef]].get(handle) match {
      case session: SparkSession => Some(session)
      case context: SQLContext => Some(context.sparkSession)
      case _ => None
    }
  }

  override def closeSession(session: SessionHandle): Unit = safely(Client.Unknown)(service.closeSession(session))

  override def cancelOperation(operation: OperationHandle): Unit =
    safely(clientOf(operation))(service.cancelOperation(operation))

  override def closeOperation(operation: OperationHandle): Unit =
    safely(clientOf(operation))(service.closeOperation(operation))

  override def getOperationStatus(operation: OperationHandle): OperationStatus = {
    val client = clientOf(operation)
    val status = safely(client)(service.getOperationStatus(operation))
    val error = status.getOperationException
    val safe = ThriftErrors.redact(error, client)
    if (safe eq error) status else new OperationStatus(status.getState, safe)
  }

  override def fetchResults(operation: OperationHandle): TRowSet =
    safely(clientOf(operation))(service.fetchResults(operation))

  override def fetchResults(
      operation: OperationHandle,
      orientation: FetchOrientation,
      rows: Long,
      kind: FetchType): TRowSet = {
    val found = safely(clientOf(operation))(service.fetchResults(operation, orientation, rows, kind))
    // Lines of the log quote his statement, and are masked as a log is.
    if (kind == FetchType.LOG && !Redactor.isEmpty) {
      if (found.isSetColumns) found.getColumns.forEach(_.getStringVal.getValues.clear())
      found.getRows.clear()
    }
    KeptRemarks.mask(operation, found)
    found
  }

  override def getResultSetMetadata(operation: OperationHandle): TTableSchema =
    safely(clientOf(operation))(service.getResultSetMetadata(operation))
}
