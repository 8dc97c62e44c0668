package io.sparkconfig.redaction.sinks

/** The servlet API of this Spark: all that differs between javax (here) and jakarta. */
object Servlets {
  type Filter = javax.servlet.Filter
  type FilterChain = javax.servlet.FilterChain
  type FilterConfig = javax.servlet.FilterConfig
  type Request = javax.servlet.ServletRequest
  type Response = javax.servlet.ServletResponse
  type HttpRequest = javax.servlet.http.HttpServletRequest
  type HttpResponse = javax.servlet.http.HttpServletResponse
  type HttpResponseWrapper = javax.servlet.http.HttpServletResponseWrapper
  type OutputStream = javax.servlet.ServletOutputStream
  type WriteListener = javax.servlet.WriteListener
  type ServletException = javax.servlet.ServletException
}
