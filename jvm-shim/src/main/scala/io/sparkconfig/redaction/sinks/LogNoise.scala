package io.sparkconfig.redaction.sinks

import io.sparkconfig.core.StartFailedException
import org.apache.logging.log4j.core.filter.{AbstractFilter, CompositeFilter}
import org.apache.logging.log4j.core.{Filter, LogEvent, LoggerContext}
import org.apache.logging.log4j.{Level, LogManager}

/** Lines of Spark's log that this jar causes and nobody can use. */
private[sparkconfig] object LogNoise {
  private val UiServer = "org.apache.spark.ui.ServerInfo"
  private val CleanUp = "org.apache.spark.util.ShutdownHookManager"
  private val SparkContext = "org.apache.spark.SparkContext"
  @volatile private var failed = false

  /** An application starts. */
  def started(): Unit = failed = false

  /** The start has failed: the last words of the log are the reason, not how Spark cleans up. */
  def startFailed(): Unit = {
    failed = true
    LogManager.getContext(false) match {
      case context: LoggerContext => install(context)
      case _ =>
    }
  }

  /**
   * Installs the filters; again does nothing. They go to the loggers that are configured: Spark takes a logger that has
   * a configuration of its own for one that the user wants to see, and shows its INFO lines in a shell or a program.
   */
  def install(context: LoggerContext): Unit = Seq(UiServer, CleanUp, SparkContext).foreach { name =>
    val logger = context.getConfiguration.getLoggerConfig(name)
    val present = logger.getFilter match {
      case several: CompositeFilter => several.getFiltersArray.contains(Useless)
      case one => one eq Useless
    }
    if (!present) logger.addFilter(Useless)
  }

  /** Whether whoever gets the exception thrown will show it: then it need not be logged on its way. */
  def isShownLater(logger: String, thrown: Throwable): Boolean =
    thrown.isInstanceOf[StartFailedException] && logger == SparkContext

  private object Useless extends AbstractFilter {
    override def filter(event: LogEvent): Filter.Result =
      if (isUseless(event)) Filter.Result.DENY else Filter.Result.NEUTRAL

    private def isUseless(event: LogEvent): Boolean = !event.getLevel.isMoreSpecificThan(Level.WARN) &&
      (event.getLoggerName match {
        case UiServer => // once for each page; filters of others are still told
          val text = event.getMessage.getFormattedMessage
          text.startsWith("Adding filter") && text.contains("io.sparkconfig.")
        case CleanUp => failed
        case SparkContext => failed && event.getThrown != null // stop() trips over what was not started yet
        case _ => false
      })
  }
}
