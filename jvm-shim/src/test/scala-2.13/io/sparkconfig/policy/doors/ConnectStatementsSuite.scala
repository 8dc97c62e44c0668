package io.sparkconfig.policy.doors

import java.lang.management.ManagementFactory

import scala.collection.JavaConverters._

import com.github.luben.zstd.Zstd
import io.sparkconfig.core.{Fingerprint, Json, PolicyStart}
import io.sparkconfig.policy.PolicyClient
import munit.FunSuite
import org.apache.spark.connect.proto._
import org.sparkproject.connect.protobuf.{Any => Packed, ByteString, Message, UnknownFieldSet}

/** Messages that no client of Spark's makes, and large ones: what the policies are asked about them. */
class ConnectStatementsSuite extends FunSuite {
  private var asked = Seq.empty[String]

  override def beforeAll(): Unit = {
    val start = PolicyStart(evaluatesTables = false, evaluatesStatements = true, Map.empty, None, Nil)
    PolicyClient.open(new PolicyClient(
      question => {
        asked = Json.texts(question.get("items")).size.toString +:
          question.get("items").elements.asScala.map(item => Json.texts(item).mkString(" ").trim).toSeq
        Json.obj().put("allowed", false).put("message", "refused")
      },
      start,
      Map.empty,
      Map.empty,
      Map.empty,
      new Fingerprint(Array.fill(32)(1.toByte))))
  }

  override def afterAll(): Unit = PolicyClient.close()

  private def items(request: Message): Set[String] = {
    asked = Seq("0")
    assertEquals(ConnectStatements.problem(request).isEmpty, asked.size == 1, ConnectStatements.problem(request))
    asked.tail.toSet
  }

  private def plan(relation: Relation): ExecutePlanRequest =
    ExecutePlanRequest.newBuilder().setPlan(Plan.newBuilder().setRoot(relation)).build()

  private def source(change: Read.DataSource.Builder => Read.DataSource.Builder): Relation =
    Relation.newBuilder().setRead(Read.newBuilder().setDataSource(change(Read.DataSource.newBuilder()))).build()

  private def literal(text: String): Expression =
    Expression.newBuilder().setLiteral(Expression.Literal.newBuilder().setString(text)).build()

  private def filter(input: Relation, condition: Expression): Relation =
    Relation.newBuilder().setFilter(Filter.newBuilder().setInput(input).setCondition(condition)).build()

  private val python = Expression.newBuilder().setCommonInlineUserDefinedFunction(
    CommonInlineUserDefinedFunction.newBuilder().setPythonUdf(PythonUDF.newBuilder().setEvalType(1))).build()

  private def compressed(relation: Relation, size: Int = 0): ExecutePlanRequest = {
    val bytes = relation.toByteArray
    ExecutePlanRequest.newBuilder().setPlan(Plan.newBuilder().setCompressedOperation(
      Plan.CompressedOperation.newBuilder()
        .setOpType(Plan.CompressedOperation.OpType.OP_TYPE_RELATION)
        .setData(ByteString.copyFrom(Zstd.compress(if (size > 0) new Array[Byte](size) else bytes))))).build()
  }

  private val unknown = UnknownFieldSet.newBuilder()
    .addField(9000, UnknownFieldSet.Field.newBuilder().addVarint(1).build()).build()
  private val packed = Packed.newBuilder().setTypeUrl("type.googleapis.com/acme.Own").build()
  private val range = Relation.newBuilder().setRange(Range.newBuilder().setEnd(1).setStep(1)).build()
  private val udt = """{"type":"udt","class":"com.acme.Own"}"""

  test("a plan of numbers and harmless texts asks nothing") {
    assertEquals(items(plan(filter(range, literal("a")))), Set.empty[String])
  }

  for ((name, request, expected) <- Seq[(String, Message, Set[String])](
      (
        "predicates",
        plan(source(_.setFormat("jdbc").addPredicates("1 = 1"))),
        Set("spark.connect.Read.DataSource.predicates")),
      (
        "a packed relation",
        plan(Relation.newBuilder().setExtension(packed).build()),
        Set("spark.connect.Relation.extension acme.Own")),
      (
        "a packed message of the user's",
        ConfigRequest.newBuilder().setUserContext(UserContext.newBuilder().addExtensions(packed)).build(),
        Set("spark.connect.UserContext.extensions acme.Own")),
      ("Python in a compressed plan", compressed(filter(range, python)), Set("python-udf")),
      ("a type in a literal below others", plan(filter(filter(range, literal(udt)), literal("a"))), Set("udt")),
      ("a type among the options of a read", plan(source(_.putOptions("schema", udt))), Set("udt")))) {
    test(s"$name is asked about") {
      assertEquals(items(request), expected.map(item => s"statement $item"))
    }
  }

  for ((name, request, message) <- Seq[(String, Message, String)](
      ("the request", ConfigRequest.newBuilder().setUnknownFields(unknown).build(), "ConfigRequest"),
      ("a relation", plan(range.toBuilder.setUnknownFields(unknown).build()), "Relation"),
      ("a source", plan(source(_.setUnknownFields(unknown))), "Read.DataSource"),
      ("a compressed plan", compressed(range.toBuilder.setUnknownFields(unknown).build()), "Relation"),
      ("a literal", plan(filter(range, literal("a").toBuilder.setUnknownFields(unknown).build())), "Expression"))) {
    test(s"an unknown field of $name is refused by the path of its message") {
      assertEquals(
        items(request),
        Set(s"statement spark.connect.$message fields that this version of Spark does not know"))
    }
  }

  test("compressed plans have limits, and are as deep as others may be") {
    assertEquals(
      items(compressed((1 to 300).foldLeft(range)((input, _) => filter(input, literal("a"))))),
      Set.empty[String])
    assert(ConnectStatements.problem(compressed(range, 256 << 20)).exists(_.contains("cannot read")))
    assertEquals(items(compressed(filter(range, literal("row " * 1000000)))), Set.empty[String])
  }

  test("a compressed plan of a few bytes takes little memory") {
    val threads = ManagementFactory.getThreadMXBean.asInstanceOf[com.sun.management.ThreadMXBean]
    val request = compressed(range, 200 << 20)
    val before = threads.getThreadAllocatedBytes(Thread.currentThread.getId)
    assert(ConnectStatements.problem(request).exists(_.contains("cannot read")))
    assert(threads.getThreadAllocatedBytes(Thread.currentThread.getId) - before < (80 << 20))
  }

  test("the time that a message takes grows as its length does") {
    // Of this thread: what else the machine does has no part in it.
    val clock = ManagementFactory.getThreadMXBean
    def time(request: Message): Long = (1 to 3).map { _ =>
      val start = clock.getCurrentThreadCpuTime
      items(request)
      clock.getCurrentThreadCpuTime - start
    }.min
    val kinds = Seq[(String, Int => Message)](
      "options" -> (n => plan(source { made => (1 to n).foreach(i => made.putOptions(s"o$i", s"$${a:b:c$i}")); made })),
      "literals" -> (n =>
        plan(filter(
          range,
          Expression.newBuilder().setUnresolvedFunction((1 to n).foldLeft(
            Expression.UnresolvedFunction.newBuilder())((call, i) =>
            call.addArguments(literal(s"""{"type":"$i"}""")))).build()))),
      "SQL" -> (n => plan(Relation.newBuilder().setSql(SQL.newBuilder().setQuery("a" * n * 100)).build())),
      "a type" -> (n =>
        plan(source(_.setSchema(
          (1 to n).map(i => s"""{"name":"$i","type":"string"}""").mkString(
            """{"type":"struct","fields":[""",
            ",",
            "]}"))))))
    kinds.foreach { case (name, make) =>
      val Seq(small, large) = Seq(600, 6000).map(make).map(time)
      assert(large < 40 * small + 20000000, s"$name: $small ns, and $large ns for ten times as much")
    }
  }
}
