package io.sparkconfig.redaction.engine

import java.nio.file.{Files, Paths}

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.JsonNode
import io.sparkconfig.core.Json
import munit.FunSuite

/** The cases that both engines pass. */
class SharedCasesSuite extends FunSuite {
  private def cases(name: String): Seq[JsonNode] = {
    val path = Paths.get(sys.props("sparkconfig.root"), "tests", "conformance", "redaction", s"$name.json")
    Json.parse(Files.readAllBytes(path)).elements().asScala.toSeq
  }

  private def registered(values: Seq[String]): Registered = {
    val made = new Registered()
    made.add(values.filter(CommonWords.worthRegistering).iterator)
    made
  }

  private def redacted(values: Registered, text: String): String = {
    val found = values.search.find(text, Reader.Anybody)
    found.settle()
    Redactor.replace(text, Edges.mend(text, found, json = false), json = false)
  }

  private def values(one: JsonNode): Seq[String] = Json.texts(one.get("values")).toSeq

  Seq("cases", "reports").foreach { name =>
    test(s"each of $name") {
      val wrong =
        cases(name).filter(one => redacted(registered(values(one)), one.get("text").asText) != one.get("answer").asText)
      assertEquals(wrong.map(_.get("name").asText), Nil)
    }
  }

  Seq("layers", "introducers").foreach { name =>
    test(s"each of $name is masked") {
      val shown =
        cases(name).filterNot(one => redacted(registered(values(one)), one.get("text").asText).contains(Redactor.Mask))
      assertEquals(shown.map(_.get("text").asText), Nil)
    }
  }

  test("streams, cut anywhere: what is shown meets what comes next, and no value is torn") {
    val wrong = cases("streams").filter { one =>
      val known = registered(values(one))
      var held = ""
      val shown = new StringBuilder
      def pass(until: Int): Unit = { shown ++= redacted(known, held.take(until)); held = held.drop(until) }
      Json.texts(one.get("pieces")).foreach { piece =>
        held += piece
        if (piece.endsWith("\n")) pass(held.length)
        else {
          val found = known.search.find(held, Reader.Anybody)
          found.settle()
          val waits = held.length - Tail.of(known.search, held)
          val torn = (0 until found.size).find(i => found.start(i) < waits && waits < found.end(i))
          pass(torn.fold(waits)(found.start))
        }
      }
      pass(held.length)
      shown.toString != one.get("answer").asText
    }
    assertEquals(wrong.map(_.get("name").asText), Nil)
  }
}
