package io.sparkconfig.ui

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode
import io.sparkconfig.core.Json

/**
 * Who looks at the page Config. On servers that users share, with policies, everybody sees their own decisions and the
 * references in these; administrators see all.
 *
 * @param user whom a filter of the UI has authenticated; None: no filter has
 * @param isAdmin whether the ACLs of the UI say so
 */
final case class Viewer(user: Option[String], isAdmin: Boolean) {
  import Viewer._

  /** What this viewer may see of a state. */
  def shown(state: JsonNode): JsonNode =
    if (isAdmin || !state.path("policy").path("shared").asBoolean(false)) state
    else state match {
      case whole: ObjectNode => own(whole.deepCopy())
      case _ => Json.obj()
    }

  /** Only what is known to be for everybody stays: what a coming version adds does not. */
  private def own(whole: ObjectNode): ObjectNode = {
    val decisions = user.filter(_.nonEmpty).toSeq.flatMap { name =>
      elements(whole, "decisions").filter(_.path("user").asText == name)
    }
    val used = decisions.filter(_.path("decision").asText == "allowed").map(_.path("subject").asText).toSet
    replace(whole, "decisions", decisions)
    replace(
      whole,
      "references",
      elements(whole, "references").filter { each =>
        val texts = Json.texts(each.get("references"))
        texts.nonEmpty && texts.forall(used)
      })
    retain(whole, "references", InReferences)
    retain(whole, "generations", InGenerations)
    retain(whole, "providers", InProviders).foreach(retain(_, "paths", InPaths))
    whole.retain(Common.asJava)
    whole.put("shown_to", user.getOrElse(""))
    whole
  }

  /** The objects of an array, with these fields alone. */
  private def retain(node: ObjectNode, name: String, fields: Seq[String]): Seq[ObjectNode] = {
    val found = elements(node, name).collect { case each: ObjectNode => each.retain(fields.asJava) }
    replace(node, name, found)
    found
  }

  private def elements(node: JsonNode, name: String): Seq[JsonNode] = node.path(name).elements().asScala.toList

  private def replace(node: ObjectNode, name: String, found: Seq[JsonNode]): Unit = {
    val array = node.putArray(name)
    found.foreach(each => array.add(each))
  }
}

object Viewer {
  private val Common = Seq(
    "generation",
    "published_at",
    "now",
    "reload_trigger",
    "reload_action",
    "poll_interval_ms",
    "policy",
    "side_process",
    "local",
    "executors",
    "executors_behind",
    "providers",
    "references",
    "decisions",
    "generations")
  private val InReferences = Seq("references", "changed_at")
  private val InProviders = Seq("name", "class", "up", "paths")
  private val InGenerations = Seq("generation", "at")
  private val InPaths = Seq("age_ms", "due_ms", "expires_ms", "failures", "reads", "pushed")
}
