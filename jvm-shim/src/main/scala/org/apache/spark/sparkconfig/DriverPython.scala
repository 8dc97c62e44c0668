package org.apache.spark.sparkconfig

import java.io.Closeable
import java.lang.ref.WeakReference
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicBoolean

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import org.apache.spark.api.python.PythonAccumulatorV2
import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.util.AccumulatorContext
import org.slf4j.LoggerFactory

/**
 * Reaches the driver's Python where that has started this JVM (`python app.py`, a shell, a notebook): it listens for
 * updates of accumulators, which Spark sends as pickles. One of these turns on redaction, and readers that resolve
 * references on 3.5, if that Python has this package.
 */
private[sparkconfig] object DriverPython {
  private val log = LoggerFactory.getLogger("io.sparkconfig.redaction.DriverPython")
  private val LogName = "sparkconfig.redaction"
  private val WaitMs = 10000L

  /** The name under which Python looks for the accumulator of our update; an own one, that adds nothing to nothing. */
  private val Name = "sparkconfig"

  /**
   * An error there stays there: an error would end the connection that Spark's own updates need. A Python
   * without this package shows what it shows; any other failure is logged there by its class, without a text.
   */
  private val Install =
    s"""try:
       |    from pyspark.accumulators import _accumulatorRegistry
       |    _accumulatorRegistry['$Name'] = 0
       |    from sparkconfig import redaction, spark35
       |    redaction.install()
       |    spark35.install()
       |except ImportError:
       |    pass
       |except BaseException as error:
       |    import logging
       |    logging.getLogger('$LogName').warning(
       |        'sparkconfig could not turn on what it does in this process: %s', type(error).__name__)
       |""".stripMargin

  @volatile private var reached: Option[PythonAccumulatorV2] = None

  /**
   * Turns redaction on in the Python that has an accumulator here; once for each. Never throws.
   * @param thread makes the thread that tells it
   */
  private[sparkconfig] def redact(session: SparkSessionExtensions, thread: Runnable => Thread): Unit =
    try
      newest().foreach { accumulator =>
        // A Python that was not reached is tried again with the next session.
        if (!reached.exists(_ eq accumulator) && send(accumulator, thread)) {
          reached.foreach(leave)
          reached = Some(accumulator)
        }
      }
    catch {
      case fault @ (NonFatal(_) | _: LinkageError) =>
        log.info("the driver's Python redacts what it shows once it imports sparkconfig ({})", fault.getClass.getName)
    }

  /** Its application has ended, and its Python listens no more: its socket would wait for the garbage collector. */
  private def leave(accumulator: PythonAccumulatorV2): Unit =
    Option(Reflect.get(accumulator, "socket").asInstanceOf[Closeable]).foreach(_.close())

  private def newest(): Option[PythonAccumulatorV2] = {
    val known = Reflect.get(AccumulatorContext, "originals").asInstanceOf[ConcurrentHashMap[Any, WeakReference[AnyRef]]]
    known.values.asScala.map(_.get).collect { case found: PythonAccumulatorV2 => found }.toSeq
      .sortBy(_.id).lastOption
  }

  /** @return false: the update could not be sent. One whose answer is late counts as sent. */
  private def send(accumulator: PythonAccumulatorV2, thread: Runnable => Thread): Boolean = {
    val update = accumulator.copyAndReset()
    update.add(pickle)
    val failed = new AtomicBoolean()
    // The main thread of that Python waits for the answer of a call here, and another one serves updates.
    val sender = thread { () =>
      try accumulator.merge(update)
      catch {
        case fault @ (NonFatal(_) | _: LinkageError) =>
          failed.set(true)
          log.info("the driver's Python was not reached", fault)
      }
    }
    sender.start()
    sender.join(WaitMs)
    !failed.get
  }

  /** `(Name, 0)`, after `exec(Install)`; in the oldest protocol, which is text. */
  private def pickle: Array[Byte] =
    s"(cbuiltins\nexec\n(V${Install.replace("\n", "\\u000a")}\ntR0V$Name\nI0\nt.".getBytes(UTF_8)
}
