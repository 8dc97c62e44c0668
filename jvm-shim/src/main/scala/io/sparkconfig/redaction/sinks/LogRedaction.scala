package io.sparkconfig.redaction.sinks

import java.util.{List => JList}

import io.sparkconfig.redaction.engine.{Redactor, Throwables}
import org.apache.logging.log4j.core.config.{Configuration, LoggerConfig, Property}
import org.apache.logging.log4j.core.impl.{Log4jLogEvent, LogEventFactory, ReusableLogEventFactory}
import org.apache.logging.log4j.core.{LogEvent, LoggerContext}
import org.apache.logging.log4j.message.{Message, ReusableParameterizedMessage, SimpleMessage}
import org.apache.logging.log4j.util.{SortedArrayStringMap, StringBuilderFormattable}
import org.apache.logging.log4j.{Level, LogManager, Marker, ThreadContext}

/**
 * Masks values in log4j2 events: message, throwable with causes and suppressed ones, thread name, MDC and NDC. The
 * user's log4j2 configuration stays as it is; the hook is renewed when it is reloaded.
 */
object LogRedaction extends Sink {
  override def name: String = "log4j2"

  override def install: PartialFunction[Stage, Unit] = { case _: Stage.Process => hook() }

  @volatile private var installed: LoggerContext = _

  /**
   * Hooks into every logger of this JVM's log4j2 context; again does nothing.
   * @throws IllegalStateException if this JVM does not log through log4j2's core, or through its all-asynchronous
   *                               loggers, which build their events themselves
   */
  def hook(): Unit = synchronized {
    LogManager.getContext(false) match {
      case context: LoggerContext if context.getClass.getName.contains("Async") =>
        throw new IllegalStateException("logs cannot be redacted: log4j2's AsyncLoggerContextSelector is in use; " +
          "use <AsyncRoot>/<AsyncLogger> elements or synchronous loggers instead")
      case context: LoggerContext =>
        LogNoise.install(context)
        hook(context.getConfiguration)
        if (installed ne context) {
          context.addPropertyChangeListener { _ =>
            LogNoise.install(context)
            hook(context.getConfiguration)
          }
          installed = context
        }
      case other =>
        throw new IllegalStateException(
          s"logs cannot be redacted: this JVM logs through ${other.getClass.getName}, not log4j2")
    }
  }

  private def hook(configuration: Configuration): Unit = {
    hook(configuration.getRootLogger, configuration)
    configuration.getLoggers.values.forEach(hook(_, configuration))
  }

  private def hook(logger: LoggerConfig, configuration: Configuration): Unit = logger.getLogEventFactory match {
    case _: RedactingEventFactory =>
    case factory => logger.setLogEventFactory(new RedactingEventFactory(factory, configuration))
  }

  private final class RedactingEventFactory(delegate: LogEventFactory, configuration: Configuration)
    extends LogEventFactory {
    @volatile private var loggers = configuration.getLoggers.size

    override def createEvent(
        name: String,
        marker: Marker,
        fqcn: String,
        level: Level,
        data: Message,
        properties: JList[Property],
        thrown: Throwable): LogEvent = {
      renew()
      val message = LogRedaction.safe(data)
      mend(delegate.createEvent(name, marker, fqcn, level, message, properties, safe(name, thrown)))
    }

    private def safe(logger: String, thrown: Throwable): Throwable =
      if (thrown == null || LogNoise.isShownLater(logger, thrown)) null else Throwables.redact(thrown)

    /** A level set from code, for a logger the configuration does not name, makes a logger without this hook. */
    private def renew(): Unit = {
      val count = configuration.getLoggers.size
      if (count != loggers) { loggers = count; hook(configuration) }
    }
  }

  private def safe(data: Message): Message =
    if (data == null || Redactor.isEmpty) data
    else
      try {
        val text = data.getFormattedMessage
        val redacted = Redactor.redact(text)
        if (redacted ne text) new SimpleMessage(redacted)
        // Others keep what they have formatted.
        else if (data.isInstanceOf[ReusableParameterizedMessage]) new FormattedMessage(text, data)
        else data
      } catch {
        case fault: Throwable => Redactor.failed(fault); new SimpleMessage(Redactor.Withheld)
      }

  /** A thread's name is searched once, and again when there are new values. */
  private def holdsValue(thread: String): Boolean = {
    val known = cleanNames.get()
    val version = Redactor.version
    if (known != null && (known.name eq thread) && known.version == version) false
    else {
      val dirty = Redactor.contains(thread)
      if (!dirty) cleanNames.set(new CleanName(thread, version))
      dirty
    }
  }

  private final class CleanName(val name: String, val version: Int)
  private val cleanNames = new ThreadLocal[CleanName]

  /** What the factory itself adds to an event: thread name and thread context. */
  private def mend(event: LogEvent): LogEvent =
    if (Redactor.isEmpty) event
    else
      try {
        val context = event.getContextData
        var dirty = false
        if (context != null && !context.isEmpty)
          context.forEach((_: String, value: AnyRef) =>
            if (value != null && Redactor.contains(value.toString)) dirty = true)
        val thread = event.getThreadName
        val threadDirty = holdsValue(thread)
        val stack = event.getContextStack
        val stackDirty = stack != null && !stack.isEmpty && Redactor.contains(stack.toString)
        if (!dirty && !stackDirty && !threadDirty) event
        else {
          val safeContext = new SortedArrayStringMap()
          if (context != null)
            context.forEach((key: String, value: AnyRef) =>
              safeContext.putValue(key, if (value == null) null else Redactor.redact(value.toString)))
          val builder =
            new Log4jLogEvent.Builder(event).setContextData(safeContext).setThreadName(Redactor.redact(thread))
          if (stackDirty) builder.setContextStack(ThreadContext.EMPTY_STACK)
          val mended = builder.build()
          ReusableLogEventFactory.release(event)
          mended
        }
      } catch {
        case fault: Throwable =>
          Redactor.failed(fault)
          new Log4jLogEvent.Builder(event).setMessage(new SimpleMessage(Redactor.Withheld)).setThrown(null)
            .setContextData(new SortedArrayStringMap()).setContextStack(ThreadContext.EMPTY_STACK).setThreadName(
              "").build()
      }
}

/** A message that was formatted, and searched, already; layouts take the text as it is. */
private final class FormattedMessage(text: String, original: Message) extends Message with StringBuilderFormattable {
  private val format = original.getFormat
  // The original is used for the next line of this thread.
  private val parameters = original.getParameters
  private val thrown = original.getThrowable

  override def getFormattedMessage: String = text
  override def getFormat: String = format
  override def getParameters: Array[AnyRef] = parameters
  override def getThrowable: Throwable = thrown
  override def formatTo(buffer: java.lang.StringBuilder): Unit = buffer.append(text)
}
