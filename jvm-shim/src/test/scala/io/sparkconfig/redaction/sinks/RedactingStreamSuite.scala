package io.sparkconfig.redaction.sinks

import java.io.{ByteArrayOutputStream, OutputStream}
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit.SECONDS

import io.sparkconfig.redaction.engine.Redactor
import munit.FunSuite

class RedactingStreamSuite extends FunSuite {
  Redactor.register(Seq("x" * 12, "canaryPlain7Qz41"))

  private def write(stream: OutputStream, text: String): Unit = stream.write(text.getBytes("UTF-8"))

  test("a line of a value without an end goes on to be shown") {
    val target = new ByteArrayOutputStream
    val stream = new RedactingStream(target)
    (0 until 100).foreach(_ => write(stream, "x" * (64 << 10)))
    assert(target.toString("UTF-8").startsWith(Redactor.Mask), "it must not be held as a whole")
  }

  test("a long beginning that comes letter by letter is searched a few times") {
    val value = (0 until 2000).map(i => f"${i * i * 7919}%06x").mkString
    Redactor.register(Seq(value))
    val target = new ByteArrayOutputStream
    val stream = new RedactingStream(target)
    s"say $value end\n".foreach(char => stream.write(char.toInt))
    assertEquals(target.toString("UTF-8"), s"say ${Redactor.Mask} end\n")
  }

  Seq("a line\n" -> "a line\n", "an unfinished canaryPlain7Qz41" -> s"an unfinished ${Redactor.Mask}").foreach {
    case (text, masked) =>
      test(s"another thread writes $text while a text is searched") {
        val target = new ByteArrayOutputStream
        val stream = new RedactingStream(target)
        val long = "\\u0061&amp;%41" * 300000
        val began = new CountDownLatch(1)
        val slow = new Thread(() => { began.countDown(); write(stream, long) })
        slow.start()
        assert(began.await(20, SECONDS))
        write(stream, text)
        assert(slow.isAlive, "it waited for the search")
        slow.join()
        stream.drain()
        assertEquals(target.toString("UTF-8"), masked + long)
      }
  }
}
