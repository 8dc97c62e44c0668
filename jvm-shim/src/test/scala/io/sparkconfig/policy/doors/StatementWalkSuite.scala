package io.sparkconfig.policy.doors

import java.nio.file.Files

import munit.FunSuite
import org.apache.hadoop.conf.Configuration
import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, LeafExpression, Literal, Unevaluable}
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LocalRelation, LogicalPlan, Project}
import org.apache.spark.sql.execution.SparkSqlParser
import org.apache.spark.sql.types.{DataType, IntegerType, MetadataBuilder, StringType, StructField, StructType}

/** Of a library that no surface file knows. */
final case class ForeignNode(location: String) extends LeafNode {
  override def output: Seq[Attribute] = Nil
}

final case class ForeignExpression() extends LeafExpression with Unevaluable {
  override def dataType: DataType = IntegerType
  override def nullable: Boolean = false
}

final case class LateExpression() extends LeafExpression with Unevaluable {
  override def dataType: DataType = IntegerType
  override def nullable: Boolean = false
}

class StatementWalkSuite extends FunSuite {
  private val Foreign = "io.sparkconfig.policy.doors.Foreign"
  private val isOld = SPARK_VERSION.startsWith("3.")

  private def walk(plan: LogicalPlan): StatementWalk = {
    val found = new StatementWalk(
      new Configuration(false),
      parts => parts.head == "text",
      name => Some("com.acme.Own").filter(_ => name == "own"))
    found.plan(plan)
    found
  }

  private def parsed(sql: String): StatementWalk = walk(new SparkSqlParser().parsePlan(sql))

  private def items(found: StatementWalk): Set[String] =
    found.items.map(item => s"${item.kind} ${item.name} ${item.detail}".trim)

  test("what no file lists is refused by its name") {
    val none = "no surface file lists it"
    val select = (tree: Expression) => Project(Seq(Alias(tree)), LocalRelation())
    assertEquals(
      items(walk(ForeignNode("/etc/x"))),
      Set(s"statement ${Foreign}Node $none", s"statement ${Foreign}Node.location $none"))
    assertEquals(items(walk(select(ForeignExpression()))), Set(s"statement ${Foreign}Expression $none"))
    assertEquals(items(parsed("SELECT own(1)")), Set(s"statement own() of com.acme.Own $none"))
    assertEquals(items(walk(select(Literal(1)))), Set.empty[String])
  }

  test("where a link leads is not what is told") {
    val folder = Files.createTempDirectory("links").toRealPath()
    val file = Files.createFile(folder.resolve("file"))
    val link = Files.createSymbolicLink(folder.resolve("link"), file)
    Seq(link -> s"file:$link", file -> "").foreach { case (path, shown) =>
      val Seq(found) =
        parsed(s"SELECT * FROM text.`$folder/./${path.getFileName}`").items.filter(_.kind == "path").toSeq
      assertEquals((found.name, found.shown), (s"file:$file", shown))
    }
  }

  test("JSON of users is read without a tree of it") {
    val fits = (text: String) => JsonTokens.exists(text)((key, value) => key == "type" && value.contains("udt"))
    Seq(
      """{"type":"udt"}""" -> Some(true),
      """[{"a":[{"type":"u\u0064t"}]}]""" -> Some(true),
      """{"type":"struct","type":"udt"}""" -> Some(true),
      """{"a":"udt","type":["udt"],"udt":"type"}""" -> Some(false),
      """["type","udt"]""" -> Some(false),
      """{"type":"udt""" -> None,
      "" -> Some(false)).foreach { case (text, expected) => assertEquals(fits(text), expected, text) }
    val many = "[" + "[]," * 5000000 + "\"a\"]"
    assertEquals(fits(s"""{"type":$many}"""), Some(false))
    assertEquals(JsonTokens.values(many), Some(Seq("a")))
    assertEquals(JsonTokens.values("[\"b\",1,[\"b\"],{\"a\":\"c\"}]"), Some(Seq("b", "1", "c")))
    assertEquals(JsonTokens.values("[\"b\""), None)
  }

  private object Alias {
    def apply(tree: Expression): org.apache.spark.sql.catalyst.expressions.NamedExpression =
      org.apache.spark.sql.catalyst.expressions.Alias(tree, "a")()
  }

  test("a statement asks about what it names") {
    Seq(
      "SELECT upper(a), count(*) FROM t WHERE b > 1 GROUP BY a" -> Set.empty,
      "SELECT * FROM range(3)" -> Set.empty,
      "SELECT map('path', 'a/b')" -> Set.empty,
      "CREATE TABLE t (a INT) USING parquet LOCATION '/lake/t'" -> Set(
        "statement create-table",
        "source parquet read",
        "source parquet write",
        "path file:/lake/t read",
        "path file:/lake/t write"),
      "CREATE TEMPORARY VIEW v USING csv OPTIONS (path '/lake/t', serde 'com.acme.Own')" -> Set(
        "statement create-temp-view-using",
        "source csv read",
        "source com.acme.own read",
        "path file:/lake/t read"),
      "ALTER TABLE t ADD PARTITION (location = 'x') LOCATION '/lake/p'" -> Set(
        "statement add-partitions",
        "path file:/lake/p read",
        "path file:/lake/p write"),
      "INSERT INTO t PARTITION (path = '/etc/x') SELECT 1" -> Set("statement insert"),
      "SELECT * FROM text.`/lake/x`" -> Set("source text read", "path file:/lake/x read"),
      "DESCRIBE TABLE EXTENDED delta.`/lake/x`" -> Set(
        "statement describe-relation",
        "statement place-of-library /lake/x",
        "path file:/lake/x read",
        "path file:/lake/x write"),
      "ADD JAR '/lake/x.jar'" -> Set("statement add-jar /lake/x.jar", "path file:/lake/x.jar read"),
      "CREATE FUNCTION f AS 'com.acme.Own' USING FILE '/lake/x'" -> Set(
        "statement create-function com.acme.Own",
        "function com.acme.Own",
        "statement add-file /lake/x"),
      "SELECT from_json(a, b) FROM t" -> Set("statement udt"),
      "SELECT from_json(a, 'a INT', map(b, 'c')) FROM t" -> Set("statement function-options from_json"),
      "SELECT from_json(a, 'a INT', m) FROM t" -> Set("statement function-options from_json"),
      "SELECT IDENTIFIER('from_json')(a, b) FROM t" -> Set("statement udt"),
      "SELECT from_protobuf(a, 'b', '/lake/x') FROM t" -> Set("path file:/lake/x read"),
      "CREATE TABLE t (a INT DEFAULT abs(-1)) USING parquet" -> Set(
        "statement create-table",
        "source parquet read",
        "source parquet write",
        "statement column-default"))
      .foreach { case (sql, expected) => assertEquals(items(parsed(sql)), expected.toSet[String], sql) }
  }

  test("a statement of Spark 4 asks about what it names") {
    assume(!isOld, "Spark 3.5 has no such statements")
    Seq(
      "CALL ice.system.expire_snapshots(table => 'a/b')" -> Set("statement call-expire-snapshots"),
      "CALL ice.system.register_table(table => 'a', metadata_file => '/lake/x')" -> Set(
        "statement call-register-table",
        "path file:/lake/x read",
        "path file:/lake/x write"),
      "CALL ice.system.register_table('a', concat('/lake', '/x'))" -> Set(
        "statement call-register-table",
        "statement function-options concat",
        "path file:/lake read",
        "path file:/lake write",
        "path file:/x read",
        "path file:/x write"),
      "CALL ice.`..`.expire_snapshots('a')" -> Set(
        "statement call-expire-snapshots",
        "statement place-in-name ice....expire_snapshots"),
      "CALL own.system.anything()" -> Set("statement call anything no surface file lists it"),
      "CREATE FUNCTION f(a INT DEFAULT 1) RETURNS INT RETURN a" -> Set("statement create-sql-function"),
      "CREATE FUNCTION f(a STRING DEFAULT java_method('b', 'c')) RETURNS STRING RETURN a" -> Set(
        "statement create-sql-function",
        "statement column-default"))
      .foreach { case (sql, expected) => assertEquals(items(parsed(sql)), expected.toSet[String], sql) }
  }

  test("a procedure's places are literals") {
    assume(!isOld, "Spark 3.5 has no such statements")
    def asked(place: String): Set[String] =
      items(parsed(s"CALL ice.system.register_table(table => 'a', metadata_file => $place)")) -
        "statement call-register-table"
    Seq("1", "-1", "NULL", "true", "map('a', 'b')", "array('a', 'b')", "TIMESTAMP '2026-01-01 00:00:00'")
      .foreach(place => assertEquals(asked(place), Set.empty[String], place))
    Seq(
      "v",
      "a.v",
      "X'2f61'",
      "CAST(X'2f61' AS STRING)",
      "X'2f61'::STRING",
      "array(X'2f61')[0]",
      "array(v)",
      "map('a', (SELECT v))",
      "CASE WHEN true THEN X'2f61' END",
      "(SELECT v)",
      "current_user",
      "current_user()",
      "'a' COLLATE UTF8_BINARY",
      "'a' || 'b'",
      "IDENTIFIER('v')").foreach(place => assert(asked(place).exists(_.contains("function-options")), place))
  }

  test("the parts of a name lead to no other folder") {
    Seq(
      "SHOW TABLES IN ice.`../../ben`",
      "SHOW NAMESPACES IN ice.`..`",
      "SELECT * FROM ice.`..`.`..`.ben.t",
      "SELECT * FROM ice.`/lake/ben`.t",
      "SELECT * FROM ice.`.`.t",
      "SELECT * FROM ice.db.`..`",
      "SELECT * FROM ice.db.`a/../../b`",
      "SELECT * FROM ice.`a%2fb`.t",
      "SELECT * FROM ice.`a\\\\b`.t",
      "TABLE ice.`..`.t",
      "CREATE TABLE ice.`..`.t (a INT) USING iceberg",
      "CREATE TABLE ice.`..`.t USING iceberg AS SELECT 1 AS a",
      "CREATE NAMESPACE ice.`a/b`",
      "DROP NAMESPACE ice.`..`",
      "USE ice.`../../ben`",
      "INSERT INTO ice.`..`.t SELECT 1",
      "DELETE FROM ice.`..`.t",
      "DROP TABLE ice.`..`.t PURGE",
      "DROP VIEW ice.`..`.t",
      "ALTER TABLE t RENAME TO ice.`..`.t",
      "DESCRIBE NAMESPACE ice.`..`").foreach { sql =>
      assert(items(parsed(sql)).exists(_.startsWith("statement place-in-name")), s"$sql ${items(parsed(sql))}")
    }
    Seq("SELECT `..`, `a/b`.`c` FROM t", "SELECT * FROM ice.`a.b`.`c..d`", "USE `a-b`", "SELECT * FROM text.`/lake/a`")
      .foreach(sql => assert(!items(parsed(sql)).exists(_.contains("place-in-name")), sql))
  }

  test("a file of the operator's decides more, and a wrong one is an error that names it") {
    def written(verdict: String, names: String, sparks: String = "3.5-4.3"): String = {
      val group = s"""{"verdict": "$verdict", "reason": "A test.", "fields": {"$sparks": [$names]}}"""
      val file = Files.createTempFile("acme", ".json")
      file.toFile.deleteOnExit()
      Files.write(file, s"""{"sparks": "$sparks", "groups": [$group]}""".getBytes("UTF-8")).toString
    }
    val name = "\"io.sparkconfig.policy.doors.LateExpression\""
    try {
      SqlSurface.open(Seq(written("harmless", name)))
      assertEquals(items(walk(Project(Seq(Alias(LateExpression())), LocalRelation()))), Set.empty[String])
      Seq(
        written("fine", name) -> "unknown verdict 'fine'",
        written("harmless", s"$name, $name") -> "decides 'io.sparkconfig.policy.doors.LateExpression'",
        written("harmless", "\"DropTable\"") -> "decides 'DropTable', which is decided already",
        written("harmless", name, sparks = "9.0-9.1") -> "is for Spark 9.0-9.1",
        "/no/such/file.json" -> "cannot be read").foreach { case (file, problem) =>
        val error = intercept[Surface.SurfaceException](SqlSurface.open(Seq(file)))
        assert(error.getMessage.contains(file) && error.getMessage.contains(problem), error.getMessage)
      }
    } finally SqlSurface.open(Nil)
  }

  test("options of functions are asked about like those of the format") {
    val options = "map('rowValidationXSDPath', '/etc/x', 'mode', 'FAILFAST')"
    assertEquals(
      parsed(s"SELECT from_xml(a, 'a INT', $options), to_json(a, map('pretty', 'true')) FROM t").calledOptions,
      Seq(
        "xml" -> Map("rowValidationXSDPath" -> "/etc/x", "mode" -> "FAILFAST"),
        "json" -> Map("pretty" -> "true")))
  }

  test("keys of metadata that somebody evaluates") {
    Seq(
      ("comment", "java_method('a', 'b')", false),
      ("ml_attr", "x", false),
      ("EXISTS_DEFAULT", "'a'", false),
      ("EXISTS_DEFAULT", "upper('a')", true),
      ("CURRENT_DEFAULT", "current_date()", false),
      ("GENERATION_EXPRESSION", "CAST(a AS DATE)", false),
      ("GENERATION_EXPRESSION", "(SELECT 1)", true),
      ("delta.generationExpression", "year(a)", false),
      ("delta.generationExpression", "from_json(a, b)", true),
      ("delta.invariants", "{}", true),
      ("OTHER_DEFAULT", "1", true),
      ("__CHAR_VARCHAR_TYPE_STRING", "varchar(3)", false))
      .foreach { case (key, text, open) =>
        val metadata = new MetadataBuilder().putString(key, text).build()
        val schema = StructType(Seq(StructField("a", StringType, nullable = true, metadata)))
        assertEquals(ColumnDefaults.isOpen(schema), open, s"$key $text")
        assertEquals(ColumnDefaults.inJson(schema.json), open, s"$key $text")
      }
  }

  test("an ordinary text may contain the words of a schema") {
    for (text <- Seq(
        "__HIVE_DEFAULT_PARTITION__",
        "p=__HIVE_DEFAULT_PARTITION__/q=a",
        "{MY_DEFAULT}",
        "{\"p\": \"__HIVE_DEFAULT_PARTITION__\"}",
        "EXISTS_DEFAULT",
        "\\u00e9+",
        "\"metadata\"",
        "\"type\" udt")) assert(!ColumnDefaults.inJson(text) && !TypeTexts.holdsUdt(text), text)
    for (text <- Seq(
        "{\"metadata\": {'EXISTS_DEFAULT': \"f()\"}}",
        "{\"metadata\": {\"CURRENT_DEFAULT\": f()}}",
        "{'metadata': {\"EXISTS\\u005fDEFAULT\": 'f()'}}")) assert(ColumnDefaults.inJson(text), text)
    for (text <- Seq("{'\"type\"': 'udt'}", "{'t\\u0079pe': 'u'}")) assert(TypeTexts.holdsUdt(text), text)
  }

  test("an XPath calls what computes from its document") {
    def asked(path: String): Set[String] = items(parsed(s"SELECT xpath_string('<a/>', '$path')"))
    for (path <- Seq(
        "a/b[position() = last()]/text()",
        "sum(a/b) div count (a//b) - 1",
        "(a | b)[not(contains(., \"system-property(x)\"))]",
        "self::node()/child::comment()",
        "a[(1) and (2)]")) assertEquals(asked(path), Set.empty[String], path)
    for (path <- Seq(
        "system-property(\"a\")",
        "concat(\"\", system-property\t(\"a\"))",
        "self::system-property(\"a\")",
        "a[function-available(\"a\")]",
        "b:name(\"a\")",
        "\" system-property(1)",
        "document-location()",
        "SYSTEM-PROPERTY(1)")) assertEquals(asked(path), Set("statement function-options xpath_string"), path)
    assert(asked("a(" * 300000 + "\"" * 300001)("statement function-options xpath_string"))
  }

  test("3.5 reads no sketch that a user may have made up") {
    val refused = if (isOld) Set("statement hll_sketch_estimate()") else Set.empty[String]
    assertEquals(items(parsed("SELECT hll_sketch_estimate(X'00')")), refused)
  }
}
