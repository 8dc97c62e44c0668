package io.sparkconfig.redaction.probe {

  import java.io.{DataInputStream, DataOutputStream, StringReader}
  import java.util.Properties

  import scala.collection.JavaConverters._

  import io.sparkconfig.redaction.engine.{Redactor, Registered}

  /**
   * Answers a fuzzer on standard input and output, one JVM for all of its texts. A request is a command, a count and
   * that many texts; a text is a count of UTF-16 units and the units.
   */
  object FuzzServer {
    private val in = new DataInputStream(new java.io.BufferedInputStream(System.in, 1 << 16))
    private val out = new DataOutputStream(new java.io.BufferedOutputStream(System.out, 1 << 16))

    def main(args: Array[String]): Unit = {
      var command = in.read()
      while (command >= 0) {
        val texts = Seq.fill(in.readInt())(read())
        answer(command.toChar, texts) match {
          case Some(answers) => out.writeInt(answers.size); answers.foreach(write)
          case None => out.writeInt(-1)
        }
        out.flush()
        command = in.read()
      }
    }

    private def answer(command: Char, texts: Seq[String]): Option[Seq[String]] = command match {
      case 'R' => // these values, and no others
        forget()
        Redactor.register(texts)
        Some(Nil)
      case 'M' => Some(texts.map(Redactor.redact))
      case 'J' => Some(texts.map(Redactor.redactJson(_)))
      case 'B' => Some(texts.map(text => (text.length - Redactor.complete(text)).toString))
      case 'P' =>
        val found = new Properties
        try {
          found.load(new StringReader(texts.head))
          Some(found.asScala.toSeq.flatMap { case (key, value) => Seq(key, value) })
        } catch { case _: IllegalArgumentException => None }
    }

    /** Takes away what was registered, which a running application can never do. */
    private def forget(): Unit = {
      val values = Redactor.getClass.getDeclaredField("values")
      values.setAccessible(true)
      val held = values.get(Redactor)
      val none = new Registered()
      held.getClass.getDeclaredFields.foreach { field => field.setAccessible(true); field.set(held, field.get(none)) }
    }

    private def read(): String = {
      val units = new Array[Char](in.readInt())
      units.indices.foreach(i => units(i) = in.readChar())
      new String(units)
    }

    private def write(text: String): Unit = {
      out.writeInt(text.length)
      out.writeChars(text)
    }
  }
}
