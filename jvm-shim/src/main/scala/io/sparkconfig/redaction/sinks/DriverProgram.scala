package io.sparkconfig.redaction.sinks

import io.sparkconfig.core.Threads
import org.apache.spark.sparkconfig.RedactionAccess

/** The Python that has started the driver's JVM: its own sinks, which are in Python, are turned on from here. */
private[sparkconfig] object DriverProgram extends Sink {
  override def name: String = "the driver's Python"

  override def install: PartialFunction[Stage, Unit] = {
    case Stage.Session(extensions) =>
      RedactionAccess.redactDriverPython(extensions, Threads.factory("sparkconfig-driver-python").newThread(_))
  }
}
