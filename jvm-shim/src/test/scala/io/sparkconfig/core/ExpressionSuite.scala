package io.sparkconfig.core

import scala.collection.JavaConverters._

import io.sparkconfig.Cases
import munit.FunSuite

class ExpressionSuite extends FunSuite {
  private val cases = Cases.read("expressions/cases.json")

  cases.get("confs").asScala.foreach { one =>
    val text = one.get("text").asText
    test(s"conf $text") {
      assertEquals(Expression.mayHold(text), one.get("may_hold").asBoolean)
      val id = Expression.ofConf("spark.k", text).id
      assertEquals(id, if (one.get("of_place").asBoolean) text + "\u0000conf:spark.k" else text)
    }
  }

  cases.get("maps").asScala.foreach { one =>
    test(s"map: ${one.get("name").asText}") {
      val map = one.get("map").properties().asScala.map(entry => entry.getKey -> entry.getValue.asText).toMap
      val expression = Expression.of(map(one.get("of").asText), map)
      assertEquals(expression.siblings.keys.toSeq.sorted, Json.texts(one.get("sends")))
      assertEquals(expression.siblings.forall { case (key, text) => map(key) == text }, true)
    }
  }

  test("expressions do not depend on the order of a map") {
    val text = "$[keyValue=a]$[keyValue=b]"
    assertEquals(
      Expression.of(text, Seq("a" -> "1", "b" -> "2")).id,
      Expression.of(text, Seq("b" -> "2", "a" -> "1")).id)
  }

  test("nothing is in null") {
    assertEquals(Expression.mayHold(null), false)
  }
}
