package io.sparkconfig.redaction.engine

import com.fasterxml.jackson.databind.JsonNode
import io.sparkconfig.core.{Json, Snapshot}
import munit.FunSuite

class RegisteredSuite extends FunSuite {
  private def finds(registered: Registered, text: String): Boolean = {
    !registered.search.find(text, answer = true).isEmpty
  }

  test("a value whose index could not be made is tried again with the next text") {
    // A fault of our own making: a full heap cannot be had at this very line.
    var full = false
    val registered = new Registered(text =>
      if (full) throw new OutOfMemoryError("a fault of this test") else Needles.of(text))
    registered.add(Iterator("Earlier-Passw0rd"))
    assert(finds(registered, "x Earlier-Passw0rd x"))
    full = true
    registered.add(Iterator("Later-Passw0rd"))
    (1 to 2).foreach { _ =>
      val failed =
        try { registered.search; false }
        catch { case _: OutOfMemoryError => true }
      assert(failed)
    }
    assert(!registered.isEmpty)
    full = false
    assert(finds(registered, "x Later-Passw0rd x"))
    assert(finds(registered, "x Earlier-Passw0rd x"))
  }

  test("10,000 texts composed around one secret leave one value to mask") {
    val secret = "the-one-Passw0rd"
    val registered = new Registered()
    var snapshot = Snapshot(0, Map.empty, Set.empty)
    (1 to 10000).foreach { number =>
      val entry = Json.obj()
      entry.put("value", s"jdbc:x://h$number/d?password=$secret")
      entry.putArray("redact").add(secret)
      val news = Json.obj()
      news.put("generation", number)
      news.putObject("values").set[JsonNode](s"text $number", entry)
      snapshot = snapshot.changedBy(news)
      if (number % 1000 == 0) {
        registered.add(snapshot.secretValues.iterator)
        assertEquals((registered.size, registered.version), (1, 1))
      }
    }
    assertEquals(snapshot.secretValues.toSet.size, 1)
    assert(finds(registered, s"password=$secret"))
  }
}
