package io.sparkconfig.redaction.sinks

import java.io.{FilterOutputStream, OutputStream, PrintStream}
import java.util.Arrays

import scala.annotation.tailrec

import io.sparkconfig.core.Threads
import io.sparkconfig.redaction.engine.Redactor
import org.apache.spark.sparkconfig.access.Reflect

/**
 * Masks values in what this JVM prints on its standard streams, the output of a `spark-submit`ted Python program
 * included. The existing stream objects stay, so whoever holds one already is covered too.
 */
object StreamRedaction extends Sink {
  override def name: String = "standard output and error"

  override def install: PartialFunction[Stage, Unit] = { case _: Stage.Process => hook() }

  private var streams: List[RedactingStream] = Nil

  /**
   * Hooks into System.out and System.err; again does nothing.
   * @throws IllegalStateException `Unsafe` does not reach what is under these streams
   */
  def hook(): Unit = synchronized {
    if (streams.isEmpty) {
      streams =
        try List(System.out, System.err).map(under)
        catch {
          case fault @ (_: RuntimeException | _: ReflectiveOperationException | _: LinkageError) =>
            throw new IllegalStateException(s"System.out and System.err cannot be redacted (${fault.getClass.getName})")
        }
      Runtime.getRuntime.addShutdownHook(Threads.atExit("sparkconfig-stream-redaction-end")(streams.foreach(_.drain())))
    }
  }

  private def under(stream: PrintStream): RedactingStream = stream.synchronized {
    stream.flush()
    // Not by reflection: spark-submit opens `java.io` to us, but standalone workers do not, for their drivers.
    val field = Reflect.unsafe.objectFieldOffset(classOf[FilterOutputStream].getDeclaredField("out"))
    val redacting = new RedactingStream(Reflect.unsafe.getObject(stream, field).asInstanceOf[OutputStream])
    Reflect.unsafe.putObjectVolatile(stream, field, redacting)
    redacting
  }
}

/**
 * Passes on what comes, redacted, but for the end of an unfinished line that could be the beginning of a value, or of a
 * character: that waits for what comes next, or for the end of the JVM. No lock is held while a text is searched.
 */
private[redaction] final class RedactingStream(target: OutputStream) extends OutputStream {
  import RedactingStream._

  @volatile private var held = Nothing
  @volatile private var ending = false

  override def write(b: Int): Unit = pass(Array(b.toByte))
  override def write(b: Array[Byte], from: Int, count: Int): Unit = pass(Arrays.copyOfRange(b, from, from + count))
  override def flush(): Unit = target.flush()

  /** Passes on everything: the JVM ends. */
  def drain(): Unit = {
    ending = true
    pass(Array.emptyByteArray)
    target.flush()
  }

  @tailrec
  private def pass(piece: Array[Byte]): Unit = {
    val before = held
    val all = before.bytes ++ piece
    val until = complete(all, before.enough)
    val masked = Utf8.masked(Arrays.copyOf(all, until))(mask)
    val after =
      if (until == all.length) Nothing
      else if (until == 0 && all.length < before.enough) new Held(all, before.enough)
      else new Held(Arrays.copyOfRange(all, until, all.length), enough(all.length - until))
    // Else another thread's piece came between.
    if (!synchronized { (held eq before) && { held = after; target.write(masked); true } }) pass(piece)
  }

  private def complete(all: Array[Byte], enough: Int): Int =
    if (ending) all.length
    else {
      val lines = all.lastIndexWhere(byte => byte == '\n' || byte == '\r') + 1
      if (lines == 0 && all.length < enough) 0
      else lines + Utf8.complete(Arrays.copyOfRange(all, lines, all.length))
    }

  private def mask(text: String): String = {
    val safe = Redactor.redact(text)
    if (safe eq Redactor.Withheld) safe + "\n" else safe
  }
}

private object RedactingStream {

  /** A long beginning that comes in small pieces is searched again when it has grown by an eighth. */
  private def enough(length: Int): Int = if (length > 1024) length + length / 8 else 0

  /** @param enough so many bytes of one line are searched */
  private final class Held(val bytes: Array[Byte], val enough: Int)
  private val Nothing = new Held(Array.emptyByteArray, 0)
}
