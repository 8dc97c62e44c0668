package io.sparkconfig.policy.doors

import java.util.concurrent.{CountDownLatch, Executors, TimeUnit}

import scala.concurrent.duration._
import scala.concurrent.{Await, ExecutionContext, Future}

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode
import io.sparkconfig.core.{Fingerprint, Json, PolicyStart}
import io.sparkconfig.policy.PolicyClient
import munit.FunSuite
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sparkconfig.PolicyViolationException

class SessionGuardSuite extends FunSuite {
  private val pool = Executors.newCachedThreadPool() // the global one has as many threads as the machine has cores
  private implicit val threads: ExecutionContext = ExecutionContext.fromExecutor(pool)

  override def afterAll(): Unit = pool.shutdownNow(): Unit

  private def guard(check: ObjectNode => JsonNode): SessionGuard = {
    val start = PolicyStart(evaluatesTables = false, evaluatesStatements = false, Map.empty, None, Nil)
    val fingerprint = new Fingerprint(Array.fill(32)(1.toByte))
    val conf = new SQLConf
    conf.setConfString("spark.shop.front", "other")
    new SessionGuard(new PolicyClient(check, start, Map.empty, Map.empty, Map.empty, fingerprint), conf, clone = false)
  }

  private def answer(allowed: Boolean): ObjectNode = Json.obj().put("allowed", allowed)

  private def within[T](what: Future[T]): T = Await.result(what, 10.seconds)

  test("while the policy is asked before one statement, another one waits for its own answer, and SET waits for none") {
    val (asking, release) = (new CountDownLatch(2), new CountDownLatch(1))
    val guarded = guard { question =>
      if (question.get("props").has("spark.shop.front")) {
        asking.countDown()
        release.await(20, TimeUnit.SECONDS)
        answer(false)
      } else answer(true)
    }
    try {
      val statements = Seq.fill(2)(Future(guarded.check()))
      within(Future(guarded.setting("spark.shop.back", "1")))
      assert(asking.await(10, TimeUnit.SECONDS), "the second statement began without an answer")
      release.countDown()
      statements.foreach(each => intercept[PolicyViolationException](within(each)))
      within(Future(guarded.check())) // what was refused has been taken away
    } finally release.countDown()
  }
}
