package io.sparkconfig.ui

import java.time.{Duration, Instant}

import scala.collection.JavaConverters._
import scala.xml.Node

import com.fasterxml.jackson.databind.JsonNode

/** The page "Config": what is in use, since when, from where, and who has it. Names and times, never values. */
object ConfigPage {
  def content(state: JsonNode): Seq[Node] = {
    val now = state.path("now").asLong
    <div id="sparkconfig">
      <ul class="list-unstyled">
        <li><strong>Generation:</strong> <span id="generation">{state.path("generation").asLong}</span>
          , published {ago(now, state.get("published_at"))}</li>
        <li><strong>Trigger:</strong> {text(state, "reload_trigger")},
          <strong>action:</strong> {text(state, "reload_action")},
          <strong>poll:</strong> {state.path("poll_interval_ms").asLong} ms</li>
        <li><strong>Side process:</strong> {side(state.path("side_process"))}</li>
        <li><strong>Executors behind:</strong> {state.path("executors_behind").asLong}</li>
      </ul>
      {table("providers", "Providers",
        Seq("Provider", "Class", "State", "Path", "Keys", "Age", "Next read", "Last good value ends in", "Last error"),
        for (provider <- list(state, "providers"); path <- paths(provider)) yield Seq(
          text(provider, "name"), text(provider, "class"), standing(provider, path), text(path, "path"),
          text(path, "keys"), span(path.get("age_ms")), next(path), expiry(path), text(path, "error")))}
      {table("references", "References", Seq("Reference", "Conf", "Last change", "Problem"),
        list(state, "references").map(use => Seq(
          list(use, "references").map(_.asText).mkString(" "), text(use, "key"),
          ago(now, use.get("changed_at")), text(use, "problem"))))}
      {table("executors", "Executors", Seq("Executor", "Generation", "Asked", "State"),
        list(state, "executors").map(executor => Seq(
          text(executor, "id"), text(executor, "generation"), ago(now, executor.get("asked_at")),
          if (executor.path("behind").asBoolean) "behind" else "newest")))}
    </div>
  }

  private def table(id: String, title: String, header: Seq[String], rows: Seq[Seq[String]]): Node =
    <div>
      <h4>{title} ({rows.size})</h4>
      <table id={id} class="table table-bordered table-sm table-striped">
        <thead><tr>{header.map(name => <th>{name}</th>)}</tr></thead>
        <tbody>{rows.map(row => <tr>{row.map(cell => <td>{cell}</td>)}</tr>)}</tbody>
      </table>
    </div>

  /** A provider that nothing asks for has no path; it is listed all the same. */
  private def paths(provider: JsonNode): Seq[JsonNode] = {
    val found = list(provider, "paths")
    if (found.isEmpty) Seq(provider.path("none")) else found
  }

  private def standing(provider: JsonNode, path: JsonNode): String =
    if (path.isMissingNode) "not in use"
    else if (path.path("failures").asLong > 0) s"down (${path.path("failures").asLong} failures)"
    else "up"

  private def next(path: JsonNode): String =
    if (path.isMissingNode) ""
    else if (path.path("pushed").asBoolean) "at a change"
    else span(path.get("due_ms"))

  private def expiry(path: JsonNode): String =
    if (path.path("failures").asLong > 0) span(path.get("expires_ms")) else ""

  private def side(node: JsonNode): String = {
    val restarts = node.path("restarts").asLong
    val answers = if (node.path("answers").asBoolean) "answers" else "does not answer; the last generation serves"
    s"process ${node.path("pid").asLong} $answers, restarted $restarts times"
  }

  private def ago(now: Long, at: JsonNode): String =
    if (at == null || at.isNull) "" else s"${Instant.ofEpochMilli(at.asLong)} (${words(now - at.asLong)} ago)"

  private def span(ms: JsonNode): String = if (ms == null || ms.isNull) "" else words(ms.asLong)

  private def words(ms: Long): String = {
    val duration = Duration.ofMillis(math.max(0L, ms))
    if (duration.toDays > 9999) "never"
    else if (duration.toHours > 0) s"${duration.toHours} h ${duration.toMinutesPart} min"
    else if (duration.toMinutes > 0) s"${duration.toMinutes} min ${duration.toSecondsPart} s"
    else if (ms >= 1000) s"${duration.toSeconds} s"
    else s"$ms ms"
  }

  private def text(node: JsonNode, name: String): String = node.path(name).asText("")

  private def list(node: JsonNode, name: String): Seq[JsonNode] = node.path(name).elements().asScala.toList
}
