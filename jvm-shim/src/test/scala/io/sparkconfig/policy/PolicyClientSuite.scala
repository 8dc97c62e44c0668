package io.sparkconfig.policy

import com.fasterxml.jackson.databind.node.ObjectNode
import io.sparkconfig.core.{Fingerprint, Json, PolicyRefusedException, PolicyStart}
import munit.FunSuite

class PolicyClientSuite extends FunSuite {
  private val fingerprint = new Fingerprint(Array.fill(32)(1.toByte))
  private val options = Map("url" -> "jdbc:x://db", "password" -> "${vault:a:b}")
  private var judged = Seq.empty[String]
  private val opens = fingerprint.of(options, Seq("jdbc"))

  private def client(
      answer: ObjectNode => Unit,
      statements: Boolean = false,
      confs: Map[String, String] = Map.empty) = {
    var asked = 0
    val start = PolicyStart(evaluatesTables = false, evaluatesStatements = statements, Map.empty, None, Nil)
    val made = new PolicyClient(
      question => {
        asked += 1
        judged = Json.texts(question.get("judged"))
        val node = Json.obj()
        answer(node)
        node
      },
      start,
      confs,
      Map.empty,
      Map.empty,
      fingerprint)
    (made, () => asked)
  }

  test(
    "a session does not get what a thread without a session was allowed, except what the operator's own text allows") {
    for (everyones <- Seq(false, true)) {
      val (policies, asked) = client(_.put("allowed", true).put("everyones", everyones))
      for (_ <- 1 to 2) assert(policies.connection(Seq("jdbc"), options, options.keys.toSeq))
      assertEquals(asked(), 1)
      assertEquals(policies.forTasks(null), if (everyones) s";;$opens" else s";$opens;")
      // A thread that has inherited the grants of a session keeps them.
      assertEquals(policies.forTasks("theirs;other;old"), if (everyones) s"theirs;;$opens" else s"theirs;$opens;")
    }
  }

  test("what is refused is asked about again, and leaves no grant") {
    val (policies, asked) = client(_.put("allowed", false).put("message", "no"))
    for (_ <- 1 to 2) intercept[PolicyRefusedException](policies.connection(Seq("jdbc"), options, options.keys.toSeq))
    assertEquals((asked(), policies.forTasks(null)), (2, ";;"))
  }

  test("where statements are judged, a connection is by its options, unless they are a catalog's") {
    def catalog(texts: (String, String)*) = texts.map { case (key, text) =>
      s"spark.sql.catalog.shop.$key" -> text
    }.toMap
    val all = options.keys.toSeq
    for ((statements, confs, expected) <- Seq(
        (false, Map.empty[String, String], Nil),
        (true, Map.empty[String, String], all),
        (true, catalog(options.toSeq: _*), Nil),
        (true, catalog("URL" -> options("url"), "password" -> options("password")), Nil),
        (true, catalog("url" -> options("url")), all),
        (true, catalog("url" -> options("url"), "password" -> "other"), all),
        (true, catalog("url" -> options("url")) ++ Map("spark.sql.catalog.b.password" -> options("password")), all))) {
      val (policies, _) = client(_.put("allowed", true), statements, confs)
      assert(policies.connection(Seq("jdbc"), options, all))
      assertEquals(judged, expected, clue(confs))
    }
  }

  test("a short question that was allowed is not asked again; what is long takes no memory") {
    for ((length, times) <- Seq(10 -> 1, 100000 -> 2)) {
      val (policies, asked) = client(_.put("allowed", true))
      for (_ <- 1 to 2) policies.check("source", Map("query" -> Some("x" * length)))
      assertEquals(asked(), times)
    }
  }
}
