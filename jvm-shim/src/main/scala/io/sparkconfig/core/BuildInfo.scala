package io.sparkconfig.core

import java.util.Properties

/** What the build wrote into the jar: version and flavour. */
object BuildInfo {
  private lazy val properties: Properties = {
    val found = new Properties()
    val stream = getClass.getClassLoader.getResourceAsStream("META-INF/sparkconfig.properties")
    if (stream != null)
      try found.load(stream)
      finally stream.close()
    found
  }

  /** The version that the Python package must have as well. */
  def version: String = properties.getProperty("version", "unknown")

  /** Such as `scala-2.13-jakarta`. */
  def flavour: String = properties.getProperty("flavour", "unknown")
}
