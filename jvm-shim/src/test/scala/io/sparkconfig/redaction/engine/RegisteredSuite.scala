package io.sparkconfig.redaction.engine

import java.util.ArrayList

import munit.FunSuite

class RegisteredSuite extends FunSuite {
  private def finds(registered: Registered, text: String): Boolean = {
    val found = new Intervals
    registered.indexes.foreach(_.scan(text, new Budget(1000000L), found, null))
    !found.isEmpty
  }

  test("a value whose index could not be made is tried again with the next text") {
    // A fault of our own making: a full heap cannot be had at this very line.
    var full = false
    val registered = new Registered((old: Array[Index], texts: ArrayList[String]) =>
      if (full) throw new OutOfMemoryError("a fault of this test") else Indexes.extend(old, texts))
    registered.add(Iterator("Earlier-Passw0rd"))
    assert(finds(registered, "x Earlier-Passw0rd x"))
    full = true
    registered.add(Iterator("Later-Passw0rd"))
    (1 to 2).foreach { _ =>
      val failed =
        try { registered.indexes; false }
        catch { case _: OutOfMemoryError => true }
      assert(failed)
    }
    assert(!registered.isEmpty)
    full = false
    assert(finds(registered, "x Later-Passw0rd x"))
    assert(finds(registered, "x Earlier-Passw0rd x"))
  }
}
