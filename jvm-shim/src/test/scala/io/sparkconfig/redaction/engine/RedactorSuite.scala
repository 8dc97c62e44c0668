package io.sparkconfig.redaction.engine

import io.sparkconfig.core.Json
import munit.FunSuite

/** Values stay registered for the life of the process; the shared cases run in a JVM each, started by Python. */
class RedactorSuite extends FunSuite {
  private val Value = "qU1te:\"unlikely\"/Zx7"
  Redactor.register(Seq(Value, "4711081542"))

  test("a text without a value stays the same object") {
    val text = "nothing here"
    assert(Redactor.redact(text) eq text)
    assert(Redactor.redactJson("{\"a\": 1}").nonEmpty)
    assertEquals(Redactor.redact(null), null)
  }

  test("what may become a beginning before an ellipsis waits") {
    Redactor.register(Seq("canaryPlain7Qz41"))
    Seq("canaryPlain7Q", "canaryPlain7Q.", "canaryPlain7Q..").foreach { beginning =>
      assertEquals(Redactor.complete(s"say $beginning"), 4)
    }
    Seq("say canaryP..", "the end.").foreach(text => assertEquals(Redactor.complete(text), text.length))
  }

  Seq(1, 40).foreach { count =>
    test(s"values without four letters in a row are found under escapes, among $count of their kind") {
      val known = new Registered()
      val values = (0 until count).map(i => s"""a${i % 10}-"Z${i / 10}q!é\n.x\\W\t_2k#""") :+ "!@#$%^&*()-=_+[]"
      known.add(values.iterator)
      for {
        value <- values
        json = Json.write(Json.obj().put("a", value))
        written <-
          Seq(json, java.net.URLEncoder.encode(value, "UTF-8"), value.replace("&", "&amp;").replace("\"", "&quot;"))
      } assert(!known.search.find(s"say $written", Reader.Anybody).isEmpty, written)
    }
  }

  test("JSON stays JSON") {
    val document = Json.obj()
    document.put("text", s"a $Value b")
    document.put("number", 4711081542L)
    val safe = Redactor.redactJson(Json.write(document))
    val read = Json.parse(safe)
    assertEquals(read.get("text").asText, s"a ${Redactor.Mask} b")
    assert(read.get("number").isNumber)
    assert(!safe.contains("4711081542"))
  }

  test("what has to stay, stays as a whole only") {
    val text = s"$Value $Value"
    val keep = new Intervals
    keep.add(0, Value.length)
    keep.add(Value.length + 3, text.length)
    assertEquals(Redactor.redactExcept(text, json = false, keep), s"$Value ${Redactor.Mask}")
  }

  test("a text that could not be searched is withheld and counted") {
    val before = Redactor.faults
    assertEquals(Redactor.redactExcept(Value, json = false, throw new IllegalStateException), Redactor.Withheld)
    assertEquals(Redactor.faults, before + 1)
  }

  test("the strings of a JSON document are visited with their places") {
    var seen = Seq.empty[(String, Boolean)]
    val text = "{\"a\": [\"x\\\"y\", {\"b\": \"z\"}]}"
    JsonStrings.each(text)((start, end, isKey, _) =>
      seen :+= text.substring(start, end).stripPrefix("\"").stripSuffix("\"") -> isKey)
    assertEquals(seen, Seq("a" -> true, "x\\\"y" -> false, "b" -> true, "z" -> false))
  }
}
