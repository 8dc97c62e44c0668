package history

import java.io.FileOutputStream
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}
import java.sql.{Connection, Driver, DriverManager, DriverPropertyInfo, SQLException}
import java.util.Properties
import java.util.concurrent.ConcurrentHashMap
import java.util.logging.Logger
import java.util.zip.CRC32

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import io.sparkconfig.bindings.ReferenceDriver
import io.sparkconfig.driver.DriverApi
import org.apache.spark.api.plugin.{DriverPlugin, ExecutorPlugin, PluginContext, SparkPlugin}
import org.apache.spark.{SparkContext, TaskContext}

/** A path: its number, its two references, and the URL behind which a database asks for them, or an empty text. */
final case class HistoryPath(number: Int, user: String, password: String, url: String) {

  /** @return whether it had a value */
  def connect(journal: Journal, context: TaskContext, isReal: Boolean): Unit = {
    Begin.set(System.nanoTime())
    val given = new Properties
    given.put("user", user)
    given.put("password", password)
    val target = s"jdbc:sparkconfig:history:$number" + (if (isReal) s":$url" else "")
    try {
      HistoryPath.product.connect(target, given).close()
    } catch {
      case e: SQLException if RecordingDriver.isOurs(e) => () // a connection that stands for one, or a refused login
      case NonFatal(e) =>
        val found = Journal.outcome(e)
        journal.note(Begin.get, number, found, found, Floors.of(context, number), Floors.task(context))
    }
  }
}

object HistoryPath {
  private lazy val product = new ReferenceDriver

  /** A line each: number, references and URL, with tabs between. */
  def all(text: String): Seq[HistoryPath] = text.linesIterator.map(_.split("\t", -1)).collect {
    case Array(number, user, password, url) => HistoryPath(number.toInt, user, password, url)
  }.toSeq
}

/** When the use of a value began, of which a connection that is opened on this thread is the end. */
object Begin {
  private val at = new ThreadLocal[java.lang.Long]
  def set(now: Long): Unit = at.set(now)
  def get: Long = Option(at.get).fold(System.nanoTime())(_.longValue)

  /** For PySpark: a thread of its own is one here, too. */
  def now(): Unit = set(System.nanoTime())
}

/** What the driver had of each path when it submitted a task: the local property `history.floors`, "1=70,2=65". */
object Floors {
  val Property = "history.floors"

  def of(context: TaskContext, path: Int): Int = {
    val text = Option(context).flatMap(each => Option(each.getLocalProperty(Property))).getOrElse("")
    text.split(",").collectFirst {
      case each if each.startsWith(s"$path=") => each.substring(each.indexOf('=') + 1).toInt
    }
      .getOrElse(-1)
  }

  def task(context: TaskContext): Int = Option(context).fold(0)(_.taskAttemptId.toInt)
}

/** The file of one kind of reader of this process; see journal.py. */
final class Journal private (kind: String) {
  import Journal._
  private val buffer = ByteBuffer.allocate(1 << 16)
  private lazy val file = {
    val path =
      Paths.get(System.getProperty("history.folder"), s"${kind.replace(' ', '-')}-$name-${System.nanoTime()}.reads")
    val stream = new FileOutputStream(path.toFile, true)
    stream.write(s"""{"name": "$name", "kind": "$kind", "where": "$where"}\n""".getBytes(UTF_8))
    stream
  }

  def note(begin: Long, path: Int, user: Int, password: Int, floor: Int, task: Int): Unit = {
    val end = System.nanoTime()
    synchronized {
      if (buffer.remaining < Size) write()
      buffer.putLong(begin).putLong(end).putShort(path.toShort)
      buffer.putInt(user).putInt(password).putInt(floor).putInt(task)
    }
  }

  def flush(): Unit = synchronized(if (buffer.position() > 0) write())

  private def write(): Unit = {
    file.write(buffer.array, 0, buffer.position())
    buffer.clear()
  }
}

object Journal {
  private val Size = 34
  val NoValue = -1
  val Failed = -2
  private val journals = new ConcurrentHashMap[String, Journal]()
  private val told = ConcurrentHashMap.newKeySet[String]()

  /** This process's. */
  val name: String = {
    val process = ProcessHandle.current()
    s"jvm-${process.pid}-${process.info.startInstant.map[Long](_.toEpochMilli).orElse(0L)}"
  }

  /** What a fault may hit: the application, whether it is the driver, and the address. */
  private def where = s"${System.getProperty("history.where")} ${sys.env.getOrElse("SPARK_LOCAL_IP", "")}".trim

  def of(kind: String): Journal = journals.computeIfAbsent(kind, new Journal(_))

  def flushAll(): Unit = journals.values.asScala.foreach(_.flush())

  def number(text: String): Int =
    if (text.startsWith("hist")) text.substring(4, 11).toInt
    else {
      val sum = new CRC32
      sum.update(text.getBytes(UTF_8))
      -16 - (sum.getValue & 0x3fffffffL).toInt
    }

  /** What a read that ended with an error found. The errors of which nothing is known are shown, once each. */
  def outcome(e: Throwable): Int = {
    val text = String.valueOf(e.getMessage)
    // In a process in which the application has ended, nothing "can be resolved in this process".
    val isNone =
      text.contains("has no value") || (text.contains("cannot be resolved") && !text.contains("in this process"))
    if (isNone) NoValue
    else {
      if (told.size < 20 && told.add(text)) System.err.println(s"a read failed: $e")
      Failed
    }
  }
}

/**
 * `jdbc:history:7` notes user and password and opens nothing, `jdbc:history:7:postgresql://…` logs in. What it is given
 * is what the product gives to any driver.
 */
final class RecordingDriver extends Driver {
  import RecordingDriver._

  override def acceptsURL(url: String): Boolean = url.startsWith(Prefix)

  override def connect(url: String, properties: Properties): Connection =
    if (!acceptsURL(url)) null
    else {
      val (number, real) = url.substring(Prefix.length).span(_ != ':')
      val context = TaskContext.get()
      val journal =
        Journal.of(if (context == null) "driver JDBC" else if (real.isEmpty) "executor JDBC" else "executor login")
      val (user, password) = (properties.getProperty("user"), properties.getProperty("password"))
      journal.note(
        Begin.get,
        number.toInt,
        Journal.number(user),
        Journal.number(password),
        Floors.of(context, number.toInt),
        Floors.task(context))
      // A second try is another use.
      Begin.set(System.nanoTime())
      if (real.isEmpty) return nothing
      // It must be masked in the log of driver or executor.
      System.err.println(s"a connection uses $password of $number")
      val rest = new Properties
      Seq("user", "password").foreach(key => rest.put(key, properties.getProperty(key)))
      rest.put("sslmode", "disable")
      postgres.connect(s"jdbc$real", rest)
    }

  override def getPropertyInfo(url: String, properties: Properties): Array[DriverPropertyInfo] = Array.empty
  override def getMajorVersion: Int = 0
  override def getMinorVersion: Int = 1
  override def jdbcCompliant: Boolean = false
  override def getParentLogger: Logger = null
}

object RecordingDriver {
  val Prefix = "jdbc:history:"
  DriverManager.registerDriver(new RecordingDriver)
  private lazy val postgres =
    Class.forName("org.postgresql.Driver").getDeclaredConstructor().newInstance().asInstanceOf[Driver]

  /** A connection with nothing behind it. */
  private val nothing = java.lang.reflect.Proxy.newProxyInstance(
    getClass.getClassLoader,
    Array(classOf[Connection]),
    (_: AnyRef, _: java.lang.reflect.Method, _: Array[AnyRef]) => null).asInstanceOf[Connection]

  /** The database refused it, or was not there: what was used is noted. */
  def isOurs(e: Throwable): Boolean =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).take(5).exists(each =>
      each.getClass.getName.startsWith("org.postgresql."))

  def register(): Unit = ()
}

/** Notes when a task begins, and writes what was noted when it ends. */
final class HistoryPlugin extends SparkPlugin {
  override def driverPlugin(): DriverPlugin = null
  override def executorPlugin(): ExecutorPlugin = new ExecutorPlugin {
    override def init(context: PluginContext, extra: java.util.Map[String, String]): Unit = RecordingDriver.register()
    override def onTaskStart(): Unit = Begin.now()
    override def onTaskSucceeded(): Unit = Journal.flushAll()
    override def onTaskFailed(reason: org.apache.spark.TaskFailedReason): Unit = Journal.flushAll()
  }
}

object Readers {
  @volatile private var watching = true

  /** Tasks of which each opens connections for a while. */
  def connect(context: SparkContext, tasks: Int, paths: String, millis: Long, pauseMicros: Long, logins: Int): Unit =
    context.parallelize(0 until tasks, tasks).foreachPartition { _ =>
      RecordingDriver.register()
      val all = HistoryPath.all(paths)
      val task = TaskContext.get()
      val journal = Journal.of("executor JDBC")
      val until = System.nanoTime() + millis * 1000000
      all.filter(_.url.nonEmpty).foreach(path => (1 to logins).foreach(_ => path.connect(journal, task, isReal = true)))
      while (System.nanoTime() < until) all.foreach { path =>
        path.connect(journal, task, isReal = false)
        java.util.concurrent.locks.LockSupport.parkNanos(pauseMicros * 1000)
      }
    }

  /** Reads all the time in the driver's JVM. */
  def watch(paths: String, pauseMicros: Long): Unit = {
    RecordingDriver.register()
    val thread = new Thread(
      () => {
        val journal = Journal.of("driver Scala")
        val all = HistoryPath.all(paths)
        var count = 0
        while (watching) {
          all.foreach { path =>
            val begin = System.nanoTime()
            val (user, password) =
              try {
                val found = DriverApi.configs(Map("u" -> path.user, "p" -> path.password).asJava)
                (Journal.number(found.get("u")), Journal.number(found.get("p")))
              } catch {
                case NonFatal(e) =>
                  val found = Journal.outcome(e)
                  (found, found)
              }
            journal.note(begin, path.number, user, password, -1, 0)
            java.util.concurrent.locks.LockSupport.parkNanos(pauseMicros * 1000)
          }
          count += 1
          if (count % 20 == 0) Journal.flushAll()
        }
        Journal.flushAll()
      },
      "history-driver")
    thread.setDaemon(true)
    thread.start()
  }

  /** The application is about to end. */
  def stop(): Unit = watching = false

  /** For PySpark. */
  def name(): String = Journal.name
}
