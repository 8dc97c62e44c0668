package io.sparkconfig.redaction.engine

import com.fasterxml.jackson.databind.JsonNode
import io.sparkconfig.core.{Json, Snapshot}
import munit.FunSuite

class RegisteredSuite extends FunSuite {
  private def finds(registered: Registered, text: String): Boolean = {
    !registered.search.find(text, Client.Unknown).isEmpty
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

  test("a value ages out after many generations and a day, but not while it is answered") {
    var now = 0L
    val registered = new Registered(seconds = () => now)
    val kept = "kept-secret-value-2\nshared-line-of-both"
    assertEquals(registered.add(Iterator("declared-secret-1")), Nil)
    registered.add(Iterator("old-secret-value-1", "other-old-value-1\nshared-line-of-both", kept), 1)
    registered.add(Iterator(kept), 2)
    assert(finds(registered, "old-secret-value-1"))
    now = 90000
    assertEquals(registered.add(Iterator(kept), 900), Nil, "too few generations")
    assertEquals(
      registered.add(Iterator(kept), 1002),
      Seq("old-secret-value-1", "other-old-value-1\nshared-line-of-both"))
    assertEquals(registered.size, 2)
    // What is forgotten is searched for until as much is kept.
    registered.add(Iterator("third-secret-value-3"), 1003)
    assert(finds(registered, "third-secret-value-3"))
    now = 180001
    assertEquals(registered.add(Iterator(kept), 2005), Seq("third-secret-value-3"))
    assert(!finds(registered, "old-secret-value-1 other-old-value-1 third-secret-value-3"))
    Seq("kept-secret-value-2", "shared-line-of-both", "declared-secret-1").foreach(each =>
      assert(finds(registered, each), each))
    registered.add(Iterator("old-secret-value-1"), 2006)
    assert(finds(registered, "old-secret-value-1"))
  }

  test("of a secret that changes for ever, a bounded number is searched for") {
    var now = 0L
    val registered = new Registered(seconds = () => now)
    val sizes = (1 to 5000).map { generation =>
      now += 3600
      registered.add(Iterator(f"rotated-$generation%05d-Qz71"), generation.toLong)
      if (generation % 100 == 0) assert(finds(registered, f"rotated-$generation%05d-Qz71"))
      registered.size
    }
    assertEquals(sizes.max, Constants.ForgetGenerations + 1)
    assert(finds(registered, "rotated-05000-Qz71") && finds(registered, "rotated-04000-Qz71"))
    assert(!finds(registered, "rotated-00001-Qz71"))
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
