package io.sparkconfig.policy.doors

import munit.FunSuite
import org.apache.spark.sql.catalyst.expressions.{
  Add,
  Alias,
  AttributeReference,
  Expression,
  GetStructField,
  Literal,
  NamedLambdaVariable,
  ScalaUDF,
  TimestampAdd
}
import org.apache.spark.sql.types.{LongType, StringType, StructField, StructType, TimestampType}

class CodeTextsSuite extends FunSuite {
  private val time = AttributeReference("time", TimestampType)()
  private val number = AttributeReference("number", LongType)()

  private def named(name: String): Expression = NamedLambdaVariable(name, LongType, nullable = true)
  private def unit(text: String): Expression = TimestampAdd(text, number, time)
  private def row(field: String) =
    AttributeReference("row", StructType(Seq(StructField(field, LongType))))()
  private def called(argument: Expression): Expression =
    ScalaUDF((any: Any) => "a", StringType, Seq(argument), udfName = Some("own"))

  private def found(trees: Expression*): Set[String] =
    CodeTexts.of(trees).map(item => s"${item.name} ${item.detail}")

  for (text <- Seq("a*/", "/*a", "\\u002a/", "\\", "a\"b", "a\nb", "a\rb"))
    test(s"a text that could end a comment or a literal of Java is refused: ${text.map(_.toInt.toHexString)}") {
      assertEquals(found(named(text)), Set("generated-code NamedLambdaVariable.name"))
      assertEquals(found(Add(Literal(1L), named(text))), Set("generated-code NamedLambdaVariable.name"))
      assertEquals(found(unit(text)), Set("generated-code TimestampAdd.unit"))
      assertEquals(found(called(row(text))), Set("generated-code ScalaUDF.dataType"))
      // Not written into the code.
      assertEquals(
        found(Alias(number, text)(), Literal(text), GetStructField(row(text), 0, Some(text))),
        Set.empty[String])
    }

  test("names as people write them pass") {
    val names = Seq("x", "x_1", "größe in m", "a.b", "it's", "a / b * c", "100 %")
    assertEquals(names.flatMap(name => found(named(name), unit(name), called(row(name)))), Nil)
  }
}
