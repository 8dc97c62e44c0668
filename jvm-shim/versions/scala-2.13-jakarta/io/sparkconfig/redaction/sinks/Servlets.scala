package io.sparkconfig.redaction.sinks

/** The servlet API of this Spark: all that differs between jakarta (here) and javax. */
object Servlets {
  type Filter = jakarta.servlet.Filter
  type FilterChain = jakarta.servlet.FilterChain
  type FilterConfig = jakarta.servlet.FilterConfig
  type Request = jakarta.servlet.ServletRequest
  type Response = jakarta.servlet.ServletResponse
  type HttpRequest = jakarta.servlet.http.HttpServletRequest
  type HttpResponse = jakarta.servlet.http.HttpServletResponse
  type HttpResponseWrapper = jakarta.servlet.http.HttpServletResponseWrapper
  type OutputStream = jakarta.servlet.ServletOutputStream
  type WriteListener = jakarta.servlet.WriteListener
  type ServletException = jakarta.servlet.ServletException
}
