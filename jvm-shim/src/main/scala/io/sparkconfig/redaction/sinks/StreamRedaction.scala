package io.sparkconfig.redaction.sinks

import java.io.{ByteArrayOutputStream, FilterOutputStream, IOException, OutputStream, PrintStream}
import java.lang.reflect.InaccessibleObjectException
import java.util.concurrent.{Executors, TimeUnit}

import io.sparkconfig.core.Threads
import io.sparkconfig.redaction.engine.Redactor
import org.apache.spark.sparkconfig.access.Reflect
import sun.misc.Unsafe

/**
 * Masks values in what this JVM prints on its standard streams, the output of a `spark-submit`ted Python program
 * included. The existing stream objects stay, so whoever holds one already is covered too.
 */
object StreamRedaction extends Sink {
  override def name: String = "standard output and error"

  override def install: PartialFunction[Stage, Unit] = { case _: Stage.Process => hook() }

  private val timer = Executors.newSingleThreadScheduledExecutor(Threads.factory("sparkconfig-stream-redaction"))
  private var streams: List[RedactingStream] = Nil

  /**
   * Hooks into System.out and System.err; again does nothing.
   * @throws IllegalStateException neither reflection nor `Unsafe` reaches what is under these streams
   */
  def hook(): Unit = synchronized {
    if (streams.isEmpty) {
      streams =
        try List(System.out, System.err).map(under)
        catch {
          case fault @ (_: RuntimeException | _: ReflectiveOperationException | _: LinkageError) =>
            throw new IllegalStateException("System.out and System.err cannot be redacted: start this JVM with " +
              s"--add-opens=java.base/java.io=ALL-UNNAMED, as spark-submit does (${fault.getClass.getName})")
        }
      Runtime.getRuntime.addShutdownHook(Threads.atExit("sparkconfig-stream-redaction-end")(streams.foreach(_.drain())))
    }
  }

  private def under(stream: PrintStream): RedactingStream = {
    val target = new Target
    stream.synchronized {
      stream.flush()
      val redacting = new RedactingStream(
        target.of(stream),
        task =>
          timer.schedule(task, RedactingStream.PatienceMs, TimeUnit.MILLISECONDS))
      target.set(stream, redacting)
      redacting
    }
  }

  /** The stream under a stream. spark-submit opens `java.io` to us; standalone workers do not, for their drivers. */
  private final class Target {
    private val field = classOf[FilterOutputStream].getDeclaredField("out")
    private val unsafe: Option[Unsafe] =
      try { Reflect.open(field); None }
      catch { case _: InaccessibleObjectException => Some(Reflect.unsafe) }

    def of(stream: PrintStream): OutputStream = (unsafe match {
      case Some(direct) => direct.getObject(stream, direct.objectFieldOffset(field))
      case None => field.get(stream)
    }).asInstanceOf[OutputStream]

    def set(stream: PrintStream, under: OutputStream): Unit = unsafe match {
      case Some(direct) => direct.putObjectVolatile(stream, direct.objectFieldOffset(field), under)
      case None => field.set(stream, under)
    }
  }
}

/**
 * Passes on whole lines, redacted. The last, unfinished line waits a moment for its rest, since pipes cut texts
 * anywhere; then it is shown (prompts, progress bars) but for its end that could be the beginning of a value: that
 * waits for what comes next, or for the end of the JVM.
 *
 * @param later runs a task after [[RedactingStream.PatienceMs]]
 */
private[redaction] final class RedactingStream(target: OutputStream, later: Runnable => Unit) extends OutputStream {
  private var held = new ByteArrayOutputStream()
  private var writes = 0L
  private var waiting = false
  private var ending = false

  /** A longer line is passed on in parts. */
  private var limit = RedactingStream.Limit

  override def write(b: Int): Unit = write(Array(b.toByte), 0, 1)

  override def write(b: Array[Byte], from: Int, count: Int): Unit = synchronized {
    writes += 1
    held.write(b, from, count)
    var newline = false
    var i = from
    while (i < from + count) { if (b(i) == '\n' || b(i) == '\r') newline = true; i += 1 }
    if (ending) pass(held.size)
    else if (newline) {
      val all = held.toByteArray
      var end = all.length
      while (all(end - 1) != '\n' && all(end - 1) != '\r') end -= 1
      pass(end)
    }
    if (held.size > limit) {
      pass(cut(held.size - RedactingStream.Tail))
      // What is one long beginning of a value is not searched again with each piece.
      limit = math.max(RedactingStream.Limit, held.size + held.size / 4)
    }
  }

  override def flush(): Unit = synchronized {
    target.flush()
    if (held.size > 0 && !waiting) wait0()
  }

  private def wait0(): Unit = {
    waiting = true
    val then = writes
    later(() => elapsed(then))
  }

  private def masked(text: String): String = {
    val safe = Redactor.redact(text)
    if (safe eq Redactor.Withheld) safe + "\n" else safe
  }

  private[redaction] def elapsed(then: Long): Unit = synchronized {
    waiting = false
    if (held.size > 0)
      if (writes != then) wait0()
      else
        try {
          val all = held.toByteArray
          // A character whose bytes came in part waits too.
          val text = Utf8.decode(java.util.Arrays.copyOf(all, all.length - torn(all)))
          val keep = Redactor.beginningAtEnd(text)
          val place = Cut.before(Redactor.find(text, json = false), text.length - keep)
          pass(Utf8.encode(text.substring(0, place)).length)
          target.flush()
        } catch { case _: IOException => () } // nobody is there to read
  }

  /** How many bytes wait. */
  def waits: Int = synchronized(held.size)

  /** Passes on everything: the JVM ends. */
  def drain(): Unit = synchronized {
    ending = true
    pass(held.size)
    target.flush()
  }

  /** How many of the last bytes are the beginning of a character in UTF-8. */
  private def torn(bytes: Array[Byte]): Int = {
    var n = 1
    while (n <= math.min(3, bytes.length) && (bytes(bytes.length - n) & 0xc0) == 0x80) n += 1
    if (n > math.min(3, bytes.length)) 0
    else {
      val lead = bytes(bytes.length - n) & 0xff
      val width = if (lead < 0xc0) 1 else if (lead < 0xe0) 2 else if (lead < 0xf0) 3 else 4
      if (n < width) n else 0
    }
  }

  /** The end of a part of the held bytes that tears no value. */
  private def cut(until: Int): Int = {
    val all = held.toByteArray
    val text = Utf8.decode(all)
    val before = java.util.Arrays.copyOf(all, until)
    val whole = Utf8.decode(java.util.Arrays.copyOf(all, until - torn(before)))
    val waiting = Redactor.beginningAtEnd(text)
    val place = Cut.before(Redactor.find(text, json = false), math.min(whole.length, text.length - waiting))
    // Matches that touch each other have no end: they are torn. A beginning has one, as the value has.
    if (place == 0 && waiting < text.length) all.length else Utf8.encode(text.substring(0, place)).length
  }

  private def pass(until: Int): Unit = if (until > 0) {
    val all = held.toByteArray
    val bytes = java.util.Arrays.copyOf(all, until)
    held = new ByteArrayOutputStream()
    held.write(all, until, all.length - until)
    target.write(Utf8.masked(bytes)(masked))
  }
}

private[redaction] object RedactingStream {

  /** How long an unfinished line waits for its rest. */
  val PatienceMs = 50L

  /** A line longer than this is passed on in parts; in bytes. */
  val Limit: Int = 1 << 20
  val Tail: Int = 128 << 10
}
