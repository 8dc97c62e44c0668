package io.sparkconfig.core

import io.sparkconfig.Asked
import munit.FunSuite

class FreshTextSuite extends FunSuite {
  private def credentials(bucket: String) =
    new Credentials("s3a", Seq("fs.s3a.secret.key" -> "${vault:a:b}", "x" -> "plain"), Map("uri" -> s"s3a://$bucket"))

  private def withValues[T](source: ValueSource)(body: => T): T = {
    Values.install(source)
    try body
    finally Values.uninstall(source)
  }

  test("the policies are asked at each request") {
    // As after the use of another user, or in another place: what is held is a use as much as what is read.
    @volatile var allowed = true
    val asked = new Asked(_ => allowed)
    withValues(asked) {
      val fresh = new FreshText
      assertEquals(fresh.values(credentials("lake")), Seq("[${vault:a:b}]", "plain"))
      allowed = false
      intercept[SparkConfigException](fresh.values(credentials("lake")))
      intercept[SparkConfigException](new FreshText().values(credentials("lake")))
    }
    assertEquals(asked.connections.size, 3)
    assert(asked.uses == 1, "a refused use has asked the stores")
    assertEquals(asked.connections.head._1, Seq("s3a"))
    assertEquals(
      asked.connections.head._2,
      Map("fs.s3a.secret.key" -> "${vault:a:b}", "x" -> "plain", "uri" -> "s3a://lake"))
  }

  test("texts without references ask nobody") {
    val asked = new Asked(_ => false)
    withValues(asked) {
      assertEquals(new FreshText().values(new Credentials("s3a", Seq("a" -> "b"), Map.empty)), Seq("b"))
    }
    assertEquals(asked.connections, Nil)
  }
}
