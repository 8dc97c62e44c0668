package io.sparkconfig.redaction

import munit.FunSuite
import org.apache.spark.SparkConf

class LiteralKeysSuite extends FunSuite {
  private def found(text: String): Seq[String] =
    LiteralKeys.values(new SparkConf(false).set("spark.shop.password", text))

  test("a secret with signs of references that are none is masked") {
    Seq("hunter2-${y}-long", "abc$[x]defghi", "hunter2${", "plain-password-7", "!!!!!!!!").foreach { text =>
      assertEquals(found(text), Seq(text))
      assertEquals(LiteralKeys.valuesOf(Map("password" -> text)), Seq(text))
    }
  }

  test("references, substitutions and variables are not secrets") {
    Seq("${vault:db/prod:password}", "x${env:A}y", "$[envVar/redact/=DB_PW]", "$[[envVar=DB_PW]]", "${DB_PASSWORD}")
      .foreach { text =>
        assertEquals(found(text), Nil)
        assertEquals(LiteralKeys.valuesOf(Map("password" -> text)), Nil)
      }
  }
}
