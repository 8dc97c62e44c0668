package io.sparkconfig.redaction.sinks

import java.io.ByteArrayOutputStream
import java.util.Base64

import io.sparkconfig.redaction.engine.Redactor
import munit.FunSuite

class RedactingStreamSuite extends FunSuite {
  private val Large = (0 until 60000).map(i => f"${i.toLong * i * 7919}%012xkQzR/~").mkString
  Redactor.registerDeclared(Seq(Large))

  /** What a stream shows of these pieces, between which somebody waits as long as an unfinished line does. */
  private def shown(pieces: Seq[String], pauses: Boolean = true): String = {
    val target = new ByteArrayOutputStream
    val later = new java.util.ArrayDeque[Runnable]
    val stream = new RedactingStream(target, task => { later.add(task); () })
    pieces.foreach { piece =>
      val bytes = piece.getBytes("UTF-8")
      stream.write(bytes, 0, bytes.length)
      stream.flush()
      while (pauses && !later.isEmpty) later.poll().run()
    }
    stream.drain()
    target.toString("UTF-8")
  }

  test("an encoding that is longer than what a line may have is masked to its end") {
    val line = s"say ${Base64.getEncoder.encodeToString(Large.getBytes("UTF-8"))} end\n"
    assert(line.length > RedactingStream.Limit)
    Seq(true, false).foreach { pauses =>
      val answer = shown(line.grouped(64 << 10).toSeq, pauses)
      assertEquals(answer.replace(Redactor.Mask, "").replace("=", ""), "say  end\n")
    }
  }

  test("a line of a value without an end goes on to be shown") {
    val stream = new RedactingStream(new ByteArrayOutputStream, _ => ())
    Redactor.registerDeclared(Seq("x" * 12))
    val piece = ("x" * (64 << 10)).getBytes("UTF-8")
    (0 until 100).foreach(_ => stream.write(piece, 0, piece.length))
    assert(stream.waits < 2 * RedactingStream.Limit, "it must not be held as a whole")
  }
}
