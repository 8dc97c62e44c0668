package io.sparkconfig.policy.doors

import munit.FunSuite
import org.apache.spark.sql.catalyst.analysis.{FunctionRegistry, TableFunctionRegistry}

class SurfaceSuite extends FunSuite {
  private val kinds = Set("harmless", "refused", "asks:path")

  private def file(
      sparks: String = "4.0-4.3",
      verdict: String = "harmless",
      fields: String = """{"4.0-4.3": ["A.b"]}""") =
    s"""{"sparks": "$sparks", "groups": [{"verdict": "$verdict", "reason": "why", "fields": $fields}]}"""

  private def read(spark: String, texts: String*) =
    Surface.read(texts.zipWithIndex.map { case (text, number) => s"$number.json" -> text }, kinds, spark)

  test("a name has the verdict of the range that the running Spark is in, and else none") {
    val text =
      file(verdict = "asks:path:read", fields = """{"4.0": ["A.old"], "4.0-4.3": ["A.b"], "4.2-4.3": ["A.c"]}""")
    assertEquals(read("4.0.5", text).names, Set("A.old", "A.b"))
    assertEquals(read("4.3.0-SNAPSHOT", text).names, Set("A.b", "A.c"))
    assertEquals(read("4.1.0", text).of("A.b"), Some(Surface.Verdict("asks:path", "read")))
    assertEquals(read("4.1.0", text, file(fields = """{"4.1": ["B.b"]}""")).names, Set("A.b", "B.b"))
  }

  test("each function that this Spark has is decided") {
    val all = FunctionRegistry.builtin.listFunction() ++ TableFunctionRegistry.builtin.listFunction()
    assertEquals(all.map(_.funcName).filter(SqlSurface.function(_).isEmpty).sorted, Nil)
  }

  test("rules call a statement by its class without the package, or as the file says") {
    for ((kind, asked, name) <- Seq(
        ("DropTable", "", "drop-table"),
        ("delta.commands.OptimizeTableCommand", "", "optimize-table"),
        ("io.delta.tables.execution.VacuumTableCommand", "", "vacuum-table"),
        ("delta.skipping.clustering.temp.AlterTableClusterBy", "", "alter-table-cluster-by"),
        ("org.acme.RestoreTableStatement", "", "restore-table"),
        ("org.acme.Own", "insert", "insert")))
      assertEquals(
        Kinds.statement(Kind(kind, Some(Surface.Verdict("asks:statement", asked)), Map.empty)),
        Some(name))
  }

  for ((name, spark, texts, words) <- Seq(
      ("an unknown verdict", "4.3.0", Seq(file(verdict = "harmles")), "unknown verdict 'harmles'"),
      ("a verdict that only begins like one", "4.3.0", Seq(file(verdict = "asks:paths")), "unknown verdict"),
      ("a name twice", "4.3.0", Seq(file(fields = """{"4.3": ["A.b"], "4.0-4.3": ["A.b"]}""")), "decides 'A.b'"),
      ("a name twice in one list", "4.3.0", Seq(file(fields = """{"4.3": ["A.b", "A.b"]}""")), "decides 'A.b'"),
      ("what another file decides", "4.3.0", Seq(file(), file(verdict = "refused")), "1.json decides 'A.b'"),
      ("a key twice", "4.3.0", Seq(file(fields = """{"4.3": ["A.b"], "4.3": ["A.c"]}""")), "is not JSON"),
      ("an unknown key", "4.3.0", Seq(file().replace("\"groups\"", "\"group\": 1, \"groups\"")), "unknown key 'group'"),
      ("an unknown key of a group", "4.3.0", Seq(file().replace("\"reason\"", "\"users\": [], \"reason\"")), "'users'"),
      ("a group without a reason", "4.3.0", Seq(file().replace("why", "")), "no reason"),
      ("a group without fields", "4.3.0", Seq(file().replace("fields", "field")), "lacks the key 'fields'"),
      ("a later Spark", "4.4.0", Seq(file()), "0.json is for Spark 4.0-4.3, and this is 4.4.0"),
      ("an earlier Spark", "3.5.9", Seq(file()), "and this is 3.5.9"),
      ("a range that is none", "4.3.0", Seq(file(sparks = "4.3-4.0")), "no range of Sparks"),
      ("a range outside", "4.3.0", Seq(file(fields = """{"4.3-4.4": ["A.b"]}""")), "'4.3-4.4'"),
      ("no JSON", "4.3.0", Seq("{\"sparks\": "), "is not JSON"),
      ("another document", "4.3.0", Seq("[]"), "an object")))
    test(s"a file with $name is an error that says so") {
      val error = intercept[Surface.SurfaceException](read(spark, texts: _*))
      assert(error.getMessage.contains(words), error.getMessage)
    }
}
