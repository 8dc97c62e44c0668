package org.apache.spark.probe {

  import java.io.File
  import java.nio.charset.StandardCharsets.UTF_8

  import scala.collection.mutable

  import org.apache.hadoop.conf.Configuration
  import org.apache.hadoop.fs.Path
  import org.apache.spark.SparkConf
  import org.apache.spark.deploy.history.{EventLogFileReader, EventLogFileWriter, RedactingEventLogWriter}

  /** Spark's own event log writers and readers around the redacting one. */
  object EventLogs {

    /** Writes the events and returns the whole log, as Spark's history server reads it. */
    def writeAndRead(
        folder: String,
        codec: String,
        rolling: Boolean,
        redact: String => String,
        events: Seq[String]): String = {
      val conf = new SparkConf(false).set("spark.eventLog.rolling.enabled", rolling.toString)
        .set("spark.eventLog.rolling.maxFileSize", "10m")
        .set("spark.eventLog.compress", (codec != "none").toString).set("spark.eventLog.compression.codec", codec)
      val hadoop = new Configuration(false)
      val delegate = EventLogFileWriter("app", None, new File(folder).toURI, conf, hadoop)
      val writer = new RedactingEventLogWriter(delegate, conf, hadoop, redact)
      writer.start()
      events.foreach(writer.writeEvent(_, flushLogger = true))
      writer.stop()
      val path = new Path(writer.logPath)
      val fs = path.getFileSystem(hadoop)
      val reader = EventLogFileReader(fs, fs.getFileStatus(path)).get
      val text = new StringBuilder
      reader.listEventLogFiles.foreach { file =>
        val stream = EventLogFileReader.openEventLog(file.getPath, fs)
        try text.append(new String(stream.readAllBytes(), UTF_8))
        finally stream.close()
      }
      text.toString
    }
  }
}

package io.sparkconfig.redaction.probe {

  import java.nio.file.{Files, Paths}

  import io.sparkconfig.redaction.engine.Redactor
  import io.sparkconfig.redaction.sinks.EventLogListener
  import org.apache.logging.log4j.LogManager
  import org.apache.logging.log4j.message.Message
  import org.apache.spark.probe.EventLogs

  /** Inputs that do not fit through Py4J, or that only a JVM can make. */
  object SinkProbe {
    def eventLog(folder: String, codec: String, rolling: Boolean, value: String): String =
      EventLogs.writeAndRead(
        folder,
        codec,
        rolling,
        EventLogListener.event,
        Seq(
          """{"Event":"SparkListenerLogStart","Spark Version":"4.0.0"}""",
          s"""{"Event":"shop.Sold","note":"$value","filler":"${"x" * 2000000}"}""",
          """{"Event":"shop.Closed"}"""))

    /** An event of `megabytes`, a value at both ends: what is left, as "length, masks, whether a value is there". */
    def hugeEvent(megabytes: Int, value: String): String = {
      val filler = "a line of an event with nothing in it; "
      val text = new java.lang.StringBuilder((megabytes << 20) + 1024).append("{\"first\":\"").append(value).append(
        "\",\"filler\":\"")
      while (text.length < (megabytes << 20)) text.append(filler)
      text.append("\",\"last\":\"").append(value).append("\"}")
      val length = text.length
      summary(EventLogListener.event(text.toString), length, value)
    }

    /** A log message of `megabytes` into a file appender: the same of what the file has. */
    def hugeMessage(megabytes: Int, value: String, file: String): String = {
      val text = new java.lang.StringBuilder((megabytes << 20) + 1024).append(value)
      while (text.length < (megabytes << 20)) text.append(" a line of a log with nothing in it;")
      val length = text.append(value).length
      LogManager.getLogger("huge").warn(text.toString)
      summary(new String(Files.readAllBytes(Paths.get(file)), "UTF-8"), length, value)
    }

    private def summary(safe: String, length: Int, value: String): String = {
      var masks = 0
      var at = safe.indexOf(Redactor.Mask)
      while (at >= 0) { masks += 1; at = safe.indexOf(Redactor.Mask, at + 1) }
      s"${safe.length - length - masks * (Redactor.Mask.length - value.length)} $masks ${safe.contains(value)}"
    }

    /** A fault inside redaction: a message that cannot be formatted, and a throwable that cannot be read. */
    def faulty(value: String): Unit = {
      LogManager.getLogger("faulty").warn(new Message {
        override def getFormattedMessage: String = throw new IllegalStateException(value)
        override def getFormat: String = value
        override def getParameters: Array[AnyRef] = Array(value)
        override def getThrowable: Throwable = null
      })
      LogManager.getLogger("faulty").error(
        "harmless",
        new RuntimeException(value) {
          override def getMessage: String = throw new IllegalStateException(value)
          override def toString: String = throw new IllegalStateException(value)
        })
    }

    def event(json: String): String = EventLogListener.event(json)
  }
}
