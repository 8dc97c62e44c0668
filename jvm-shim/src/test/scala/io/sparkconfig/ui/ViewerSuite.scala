package io.sparkconfig.ui

import com.fasterxml.jackson.databind.JsonNode
import io.sparkconfig.core.Json
import munit.FunSuite

class ViewerSuite extends FunSuite {
  private def state(shared: Boolean): JsonNode = Json.parse(s"""{
    "generation": 3, "now": 4, "policy": {"mode": "enforce", "shared": $shared, "denied": 2, "warned": 0},
    "files_problem": "/srv/files", "coming": "bobs-table", "executors": [{"id": "1"}],
    "providers": [{"name": "vault", "class": "vault", "up": true, "last": "bobs-path",
      "paths": [{"path": "bobs-path", "keys": ["bobs-key"], "error": "bobs-error", "age_ms": 1, "failures": 0}]}],
    "references": [
      {"references": ["$${vault:ana:k}"], "key": "bobs-conf", "problem": "bobs-problem"},
      {"references": ["$${vault:ana:k}", "$${vault:bobs:k}"]},
      {"references": ["$${vault:asked:k}"]},
      {"references": [], "key": "bobs"}],
    "generations": [{"generation": 3, "at": 2, "changed": ["$${vault:bobs:k}"], "added": [], "added_more": 7}],
    "query_restarts": [{"query": "bobs-query"}],
    "decisions": [
      {"user": "ana", "subject": "$${vault:ana:k}", "decision": "allowed"},
      {"user": "ana", "subject": "$${vault:asked:k}", "decision": "denied"},
      {"user": "bob", "subject": "$${vault:bobs:k}", "decision": "allowed"},
      {"user": "", "subject": "bobs-nobody", "decision": "allowed"},
      {"subject": "bobs-other", "decision": "allowed"}]}""")

  private def users(shown: JsonNode): Seq[String] =
    Seq(0, 1, 2, 3, 4).map(shown.path("decisions").path(_)).filterNot(_.isMissingNode).map(_.path("user").asText)

  test("administrators see all, and so does everybody where nothing is shared") {
    assertEquals(Viewer(Some("root"), isAdmin = true).shown(state(shared = true)), state(shared = true))
    Seq(None, Some("ana")).foreach { user =>
      assertEquals(Viewer(user, isAdmin = false).shown(state(shared = false)), state(shared = false))
    }
  }

  test("a user sees what is hers") {
    val whole = state(shared = true)
    val shown = Viewer(Some("ana"), isAdmin = false).shown(whole)
    assertEquals(users(shown), Seq("ana", "ana"))
    assertEquals(shown.path("references").toString, """[{"references":["${vault:ana:k}"]}]""")
    assert(!shown.toString.contains("bob"), shown.toString)
    assertEquals(shown.path("providers").path(0).path("paths").path(0).path("failures").asInt(-1), 0)
    assertEquals(whole, state(shared = true))
    val page = ConfigPage.content(shown).mkString
    assert(page.contains("shows what ana does") && !page.contains("bob"))
  }

  test("without a name nothing is anybody's") {
    Seq(None, Some(""), Some("carol")).foreach { user =>
      val shown = Viewer(user, isAdmin = false).shown(state(shared = true))
      assertEquals(shown.path("decisions").size + shown.path("references").size, 0)
      assert(!shown.toString.contains("bob") && !shown.toString.contains("ana"))
    }
    val page = ConfigPage.content(Viewer(None, isAdmin = false).shown(state(shared = true))).mkString
    assert(page.contains("you are not logged in"))
  }

  test("a malformed state shows nothing of other users") {
    val odd =
      Json.parse("""{"policy": {"shared": true}, "decisions": "bobs", "references": [7], "providers": ["bobs"]}""")
    assert(!Viewer(Some("ana"), isAdmin = false).shown(odd).toString.contains("bob"))
  }
}
