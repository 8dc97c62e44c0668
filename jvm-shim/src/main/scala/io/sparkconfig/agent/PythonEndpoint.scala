package io.sparkconfig.agent

/**
 * What the Python side process answers, as Py4J sees it: one method, JSON both ways. Returned objects other than
 * strings would need a listener in the JVM, which would give every holder of the token full reflection.
 */
trait PythonEndpoint {
  def call(method: String, request: String): String
}
