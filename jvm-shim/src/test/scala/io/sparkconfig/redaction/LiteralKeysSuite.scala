package io.sparkconfig.redaction

import io.sparkconfig.Cases
import io.sparkconfig.core.Json
import munit.FunSuite
import org.apache.spark.SparkConf

class LiteralKeysSuite extends FunSuite {
  private def found(text: String): Seq[String] =
    LiteralKeys.values(new SparkConf(false).set("spark.shop.password", text))

  private val cases = Cases.read("expressions/cases.json").get("literals")
  private def texts(name: String): Seq[String] = Json.texts(cases.get(name))

  test("a secret with signs of references that are none is masked") {
    texts("clear").foreach { text =>
      assertEquals(found(text), Seq(text), text)
      assertEquals(LiteralKeys.valuesOf(Map("password" -> text)), Seq(text))
    }
  }

  test("references, substitutions and variables are not secrets") {
    texts("replaced").foreach { text =>
      assertEquals(found(text), Nil, text)
      assertEquals(LiteralKeys.valuesOf(Map("password" -> text)), Nil)
    }
  }

  test("hostile texts take linear time") {
    texts("hostile").foreach { piece =>
      val began = System.nanoTime
      LiteralKeys.valuesOf(Map("password" -> piece * (400000 / piece.length)))
      assert(System.nanoTime - began < 10000000000L, piece)
    }
  }

  test("a long secret in a JAAS configuration is found, whatever is escaped in it") {
    Seq("xY7z" * 50000, "a\\\"b" * 20000, "-----BEGIN KEY-----\\n" + "Qz71" * 3000, "two\nlines").foreach { secret =>
      val options = Map("kafka.sasl.jaas.config" -> s"""a.b.Login required clientId="u" clientSecret="$secret";""")
      assertEquals(LiteralKeys.valuesOf(options), Seq(secret.replaceAll("(?s)\\\\(.)", "$1")))
    }
  }
}
