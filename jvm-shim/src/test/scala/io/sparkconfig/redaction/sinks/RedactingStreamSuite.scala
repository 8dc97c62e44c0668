package io.sparkconfig.redaction.sinks

import java.io.ByteArrayOutputStream

import io.sparkconfig.redaction.engine.Redactor
import munit.FunSuite

class RedactingStreamSuite extends FunSuite {
  test("a line of a value without an end goes on to be shown") {
    val stream = new RedactingStream(new ByteArrayOutputStream, _ => ())
    Redactor.registerDeclared(Seq("x" * 12))
    val piece = ("x" * (64 << 10)).getBytes("UTF-8")
    (0 until 100).foreach(_ => stream.write(piece, 0, piece.length))
    assert(stream.waits < 2 * RedactingStream.Limit, "it must not be held as a whole")
  }
}
