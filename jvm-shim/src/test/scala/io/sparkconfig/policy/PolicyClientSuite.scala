package io.sparkconfig.policy

import com.fasterxml.jackson.databind.node.ObjectNode
import io.sparkconfig.core.{Fingerprint, Json, PolicyRefusedException, PolicyStart}
import munit.FunSuite

class PolicyClientSuite extends FunSuite {
  private val fingerprint = new Fingerprint(Array.fill(32)(1.toByte))
  private val options = Map("url" -> "jdbc:x://db", "password" -> "${vault:a:b}")
  private val opens = fingerprint.of(options, Seq("jdbc"))

  private def client(answer: ObjectNode => Unit) = {
    var asked = 0
    val start = PolicyStart(evaluatesTables = false, evaluatesStatements = false, Map.empty, None, Nil)
    val made = new PolicyClient(
      _ => {
        asked += 1
        val node = Json.obj()
        answer(node)
        node
      },
      start,
      Map.empty,
      Map.empty,
      Map.empty,
      fingerprint)
    (made, () => asked)
  }

  test(
    "a session does not get what a thread without a session was allowed, except what the operator's own text allows") {
    for (everyones <- Seq(false, true)) {
      val (policies, asked) = client(_.put("allowed", true).put("everyones", everyones))
      for (_ <- 1 to 2) assert(policies.connection(Seq("jdbc"), options))
      assertEquals(asked(), 1)
      assertEquals(policies.forTasks(null), if (everyones) s";;$opens" else s";$opens;")
      // A thread that has inherited the grants of a session keeps them.
      assertEquals(policies.forTasks("theirs;other;old"), if (everyones) s"theirs;;$opens" else s"theirs;$opens;")
    }
  }

  test("what is refused is asked about again, and leaves no grant") {
    val (policies, asked) = client(_.put("allowed", false).put("message", "no"))
    for (_ <- 1 to 2) intercept[PolicyRefusedException](policies.connection(Seq("jdbc"), options))
    assertEquals((asked(), policies.forTasks(null)), (2, ";;"))
  }
}
