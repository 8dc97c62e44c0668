package io.sparkconfig.redaction.engine

import io.sparkconfig.core.Json
import munit.FunSuite

/** Values stay registered for the life of the process; the shared cases run in a JVM each, started by Python. */
class RedactorSuite extends FunSuite {
  private val Value = "qU1te:\"unlikely\"/Zx7"
  Redactor.registerDeclared(Seq(Value, "4711081542"))

  test("a text without a value stays the same object") {
    val text = "nothing here"
    assert(Redactor.redact(text) eq text)
    assert(Redactor.redactJson("{\"a\": 1}").nonEmpty)
    assertEquals(Redactor.redact(null), null)
  }

  test("what may become a beginning before an ellipsis waits") {
    Redactor.registerDeclared(Seq("canaryPlain7Qz41"))
    Seq("canaryPlain7Q", "canaryPlain7Q.", "canaryPlain7Q..").foreach { beginning =>
      assertEquals(Redactor.beginningAtEnd(s"say $beginning"), beginning.length)
    }
    assertEquals(Redactor.beginningAtEnd("say canaryP.."), 0)
    assertEquals(Redactor.beginningAtEnd("the end."), 0)
  }

  test("an encoding of which a part may follow waits, and so do bytes as numbers") {
    val long = (0 until 60).map(i => f"${i * i * 7919}%06xkQzR/+").mkString
    val short = "pA5s-w0rd!Qz71"
    Redactor.registerDeclared(Seq(long, short))
    val base64 = java.util.Base64.getEncoder.encodeToString(long.getBytes("UTF-8"))
    val hex = long.getBytes("UTF-8").map(b => f"$b%02x").mkString
    for (written <- Seq(base64, hex); cut <- Seq(1, 100, 191, 193, 300, 555))
      assertEquals(Redactor.beginningAtEnd(s"say ${written.take(cut)}"), cut)
    assertEquals(Redactor.beginningAtEnd(s"say $base64 end."), 0)
    val list = short.getBytes("UTF-8").mkString("[1, ", ", ", "")
    (4 to list.length).foreach(cut => assertEquals(Redactor.beginningAtEnd(s"say ${list.take(cut)}"), cut - 4))
    Seq("one of [1, 2, 3]", "choose [y/n", "[300, 9", "[1 9").foreach { text =>
      // A digit may begin a value of another suite.
      assert(Redactor.beginningAtEnd(text) <= 1, text)
    }
  }

  test("a cut within a character waits, and an encoding no longer than the value's") {
    val foreign = "pä5swörd-鍵-Qz71"
    val long = (0 until 60).map(i => f"${i * i * 7919}%06xkQzR/~").mkString
    Redactor.registerDeclared(Seq(foreign, long))
    val octets = foreign.getBytes("UTF-8")
    val list = octets.mkString("[", ",", "")
    (2 to list.length).foreach(cut => assertEquals(Redactor.beginningAtEnd(list.take(cut)), cut - 1))
    val base64 = java.util.Base64.getEncoder.encodeToString((long + "x" * 9000).getBytes("UTF-8"))
    val encoded = long.length * 4 / 3
    (200 until encoded by 50).foreach(cut => assertEquals(Redactor.beginningAtEnd(base64.take(cut)), cut))
    (encoded + 2 until base64.length by 500).foreach(cut =>
      assert(Redactor.beginningAtEnd(base64.take(cut)) < 9, cut))
    // A sign of it is escaped.
    val percents = java.net.URLEncoder.encode(base64, "UTF-8")
    assert(percents.indexOf('%', 200) > 0)
    (200 until encoded by 7).foreach(cut => assertEquals(Redactor.beginningAtEnd(percents.take(cut)), cut))
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
    val keep = new Spans
    keep.add(0, Value.length)
    keep.add(Value.length + 3, text.length)
    assertEquals(Redactor.redactExcept(text, json = false, keep), s"$Value ${Redactor.Mask}")
  }

  test("a text that could not be searched is withheld and counted") {
    val before = Redactor.faults
    assertEquals(Redactor.redactExcept(Value, json = false, throw new ScanOverload), Redactor.Withheld)
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
