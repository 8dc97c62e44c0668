package io.sparkconfig.redaction.sinks

import java.io.IOException

import io.sparkconfig.core.ConfLists
import io.sparkconfig.redaction.engine.{Redactor, Throwables}
import io.sparkconfig.redaction.sinks.Servlets._
import org.slf4j.LoggerFactory

/**
 * Masks registered values in every page and REST answer of Spark's UI; named in `spark.ui.filters`.
 *
 * An answer in which no value occurs is passed on byte for byte. A fault never lets the answer through: it is
 * replaced by a 500 that says so.
 */
class UiFilter extends Filter {
  private val log = LoggerFactory.getLogger(classOf[UiFilter])

  override def init(config: FilterConfig): Unit = ()
  override def destroy(): Unit = ()

  override def doFilter(request: Request, response: Response, chain: FilterChain): Unit = (request, response) match {
    case (http: HttpRequest, answer: HttpResponse) if !Redactor.isEmpty && !isStatic(http) =>
      filter(http, answer, chain)
    case _ => chain.doFilter(request, response)
  }

  /**
   * Scripts, styles and images out of Spark's jars, which have contexts of their own. Large ones would come out empty:
   * Jetty 12's servlet for files does not use a response that holds the body back as other servlets do.
   */
  private def isStatic(request: HttpRequest): Boolean = {
    val context = String.valueOf(request.getContextPath)
    context == "/static" || context.startsWith("/static/")
  }

  private def filter(request: HttpRequest, answer: HttpResponse, chain: FilterChain): Unit = {
    val redacted = new RedactedResponse(answer)
    try chain.doFilter(request, redacted)
    catch {
      // Jetty shows the messages and stack traces of what a page throws.
      case fault: Throwable =>
        redacted.abandon()
        val shown = Throwables.redact(fault)
        if (shown eq fault) throw fault
        throw new ServletException(String.valueOf(shown.getMessage), shown)
    }
    try {
      if (request.isAsyncStarted) throw new IOException("an answer that comes later") with Unsearchable
      redacted.finish()
    } catch {
      case fault: IOException if !fault.isInstanceOf[Unsearchable] => throw fault // the client went away
      case fault: Throwable =>
        Redactor.failed(fault)
        log.warn("A page of the UI could not be redacted and is withheld ({})", fault.getClass.getName)
        redacted.abandon()
        if (!answer.isCommitted) { answer.reset(); answer.sendError(500, Redactor.Withheld) }
    }
  }
}

object UiFilter extends Sink {
  override def name: String = "UI and REST"

  override def install: PartialFunction[Stage, Unit] = {
    case Stage.Confs(conf) => ConfLists.add(conf, "spark.ui.filters", classOf[UiFilter].getName)
  }
}
