package probe

import jakarta.servlet.DispatcherType
import jakarta.servlet.http.{HttpServlet, HttpServletRequest, HttpServletResponse}
import org.sparkproject.jetty.ee10.servlet.{FilterHolder, ServletContextHandler, ServletHolder}
import org.sparkproject.jetty.server.handler.ContextHandlerCollection
import org.sparkproject.jetty.server.handler.gzip.GzipHandler
import org.sparkproject.jetty.server.{Server, ServerConnector}

/** Spark's own Jetty with a servlet that answers in every way a page can, once plain and once behind the filter. */
object FilterProbe {

  /** The text that pages show. */
  @volatile private var value = ""
  def show(text: String): Unit = value = text

  /** @return the port */
  def start(filtered: Boolean): Int = {
    val server = new Server(0)
    val pages = new ServletContextHandler()
    pages.setContextPath("/")
    pages.addServlet(new ServletHolder(new Pages), "/*")
    val contexts = Seq(pages, static)
    if (filtered) contexts.foreach { context =>
      val filter = new FilterHolder(new io.sparkconfig.redaction.sinks.UiFilter)
      context.addFilter(filter, "/*", java.util.EnumSet.allOf(classOf[DispatcherType]))
    }
    val gzip = new GzipHandler() // as Spark wraps every handler
    gzip.setHandler(new ContextHandlerCollection(contexts: _*))
    server.setHandler(gzip)
    server.start()
    server.getConnectors.head.asInstanceOf[ServerConnector].getLocalPort
  }

  /** Styles and scripts as Spark serves them; its signature names a class of Jetty that it renames in its jars. */
  private def static: ServletContextHandler = {
    val jetty = Class.forName("org.apache.spark.ui.JettyUtils$")
    jetty.getMethods.find(_.getName == "createStaticHandler").get
      .invoke(jetty.getField("MODULE$").get(null), "org/apache/spark/ui/static", "/static")
      .asInstanceOf[ServletContextHandler]
  }

  private def zip(bytes: Array[Byte]): Array[Byte] = {
    val out = new java.io.ByteArrayOutputStream()
    val gzip = new java.util.zip.GZIPOutputStream(out)
    gzip.write(bytes)
    gzip.close()
    out.toByteArray
  }

  private final class Pages extends HttpServlet {
    override def doGet(request: HttpServletRequest, response: HttpServletResponse): Unit = {
      val text = s"<p>ä ${value.replace("&", "&amp;").replace("<", "&lt;")} end</p>\n"
      def utf8 = text.getBytes("UTF-8")
      request.getPathInfo match {
        case "/writer" =>
          response.setContentType("text/html;charset=utf-8")
          response.getWriter.print(text)
        case "/bare-writer" => response.setContentType("text/html"); response.getWriter.print(text)
        case "/stream" =>
          response.setContentType("application/json");
          response.getOutputStream.write(("\"" + value + "ä\"").getBytes("UTF-8"))
        case "/length" =>
          response.setContentType("text/plain")
          response.setContentLength(utf8.length)
          response.getOutputStream.write(utf8)
        case "/latin" =>
          response.setContentType("text/plain;charset=iso-8859-1")
          response.getOutputStream.write(text.getBytes("ISO-8859-1"))
        case "/bytes" =>
          response.setContentType("application/octet-stream")
          response.getOutputStream.write((0 until 256).map(_.toByte).toArray ++ utf8)
        case "/zip" =>
          response.setContentType("application/zip")
          response.setHeader("Content-Disposition", "attachment; filename=log.zip")
          response.getOutputStream.write(zip(utf8))
        case "/gzip" | "/br" =>
          response.setContentType("text/plain")
          response.setHeader("Content-Encoding", request.getPathInfo.drop(1))
          response.getOutputStream.write(utf8)
        case "/later" =>
          val later = request.startAsync()
          response.getWriter.print(text)
          later.complete()
        case "/large" => // 17 MB, a value at and around every place where it may be cut
          response.setContentType("text/plain;charset=utf-8")
          val out = response.getOutputStream
          val line = ("x" * 61 + "ä").getBytes("UTF-8")
          for (i <- 0 until 280000) { out.write(line); if (i % 1000 == 0) out.write(utf8) }
        case "/large-writer" =>
          response.setContentType("text/plain;charset=utf-8")
          val out = response.getWriter
          for (i <- 0 until 280000) { out.write("x" * 61 + "ä"); if (i % 1000 == 0) out.write(text) }
        case "/error" => response.sendError(404, s"no such page: $value")
        case "/partial-error" => response.getWriter.print(text); response.sendError(500, value)
        case "/redirect" => response.sendRedirect("/writer?x=" + java.net.URLEncoder.encode(value, "UTF-8"))
        case "/header" => response.setHeader("X-Shop", value.filter(c => c >= ' ')); response.setStatus(204)
        case "/throw" => throw new IllegalStateException(s"broken by $value", new RuntimeException(value))
        case "/reset" =>
          response.getWriter.print("before")
          response.reset()
          response.setContentType("text/plain")
          response.getOutputStream.write(utf8)
        case "/empty" => response.setStatus(200)
      }
    }
  }
}
