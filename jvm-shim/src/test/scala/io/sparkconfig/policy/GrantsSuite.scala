package io.sparkconfig.policy

import munit.FunSuite

class GrantsSuite extends FunSuite {
  private val ann = Requester("ann", "1", "connect")
  private val nameless = Requester("", "2", "")

  private def of(parent: Option[Grants] = None, named: => Option[Requester] = None) =
    new Grants(parent, () => named, Some(nameless))

  test("a clone begins with what its session was allowed, and then each has its own") {
    val session = of()
    session.open("before")
    session.allow("question")
    val clone = of(Some(session))
    session.open("sessions")
    clone.open("clones")
    assertEquals(Seq("before", "sessions", "clones").map(session.opens), Seq(true, true, false))
    assertEquals(Seq("before", "sessions", "clones").map(clone.opens), Seq(true, false, true))
    assertEquals(clone.text, "before,clones")
    assert(clone.allows("question") && !clone.allows("another"))
  }

  test("a session is its user's for ever, and so are clones of clones; without a name it is nobody's") {
    var named = Option(ann)
    val session = of(named = named)
    val clone = of(Some(of(Some(session))))
    assertEquals(clone.requester, Some(ann))
    named = Some(Requester("bob", "1", "connect"))
    assertEquals((session.requester, clone.requester), (Some(ann), Some(ann)))
    assertEquals(of(Some(of())).requester, Some(nameless))
  }

  test("behind the last semicolon stand the operator's") {
    assertEquals(Grants.operators("a,b;e;c,d"), "c,d")
    assertEquals(Grants.operators(";;"), "")
    assertEquals(Grants.ofTask("a"), None)
  }
}
