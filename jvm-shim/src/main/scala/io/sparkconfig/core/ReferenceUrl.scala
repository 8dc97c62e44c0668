package io.sparkconfig.core

/** URLs of our own JDBC driver, for libraries that open connections by themselves. */
private[sparkconfig] object ReferenceUrl {
  val Prefix = "jdbc:sparkconfig:"

  def is(url: String): Boolean = url != null && url.startsWith(Prefix)
}
