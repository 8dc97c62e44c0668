package org.apache.spark.deploy.history

import org.apache.hadoop.conf.Configuration
import org.apache.spark.SparkConf

/**
 * Passes events to Spark's own writer (single or rolling, any codec), each as `redact` returns it.
 *
 * It is in this package because `EventLogFileWriter` is private to it. Nothing of the superclass is used; its
 * constructor wants a directory it can name a file system for, and does not touch it.
 */
private[spark] final class RedactingEventLogWriter(
    val delegate: EventLogFileWriter,
    conf: SparkConf,
    hadoop: Configuration,
    redact: String => String)
  extends EventLogFileWriter("sparkconfig", None, new java.net.URI("file:///"), conf, hadoop) {

  override def start(): Unit = delegate.start()
  override def writeEvent(eventJson: String, flushLogger: Boolean): Unit =
    delegate.writeEvent(redact(eventJson), flushLogger)
  override def stop(): Unit = delegate.stop()
  override def logPath: String = delegate.logPath
}
