package io.sparkconfig.policy.doors

import munit.FunSuite
import org.apache.spark.sql.types.{IntegerType, MetadataBuilder, StructType}

class ColumnDefaultsSuite extends FunSuite {

  private def isOpen(key: String, text: String): Boolean = {
    val metadata = new MetadataBuilder().putString(key, text).build()
    ColumnDefaults.isOpen(new StructType().add("a", IntegerType, nullable = true, metadata))
  }

  test("a text in a schema's metadata, such as that of a file, is nested no deeper than one in a statement") {
    val deep = Seq("/*" * 201, "array<" * 201 + "int" + ">" * 201, "(" * 201 + "1" + ")" * 201)
    for (key <-
        Seq("__CHAR_VARCHAR_TYPE_STRING", "EXISTS_DEFAULT", "CURRENT_DEFAULT", "GENERATION_EXPRESSION", "comment");
      text <- deep) assert(isOpen(key, text), clue(s"$key $text"))
  }

  test("what schemas hold as a rule is in order") {
    for ((key, text) <- Seq(
        "__CHAR_VARCHAR_TYPE_STRING" -> "varchar(20)",
        "comment" -> "(a) < (b)",
        "CURRENT_DEFAULT" -> "'x'",
        "EXISTS_DEFAULT" -> "1")) assert(!isOpen(key, text), clue(key))
  }
}
