package io.sparkconfig.ui

import java.time.format.DateTimeFormatter
import java.time.{Duration, Instant, ZoneId}

import scala.collection.JavaConverters._
import scala.util.Try
import scala.xml.{Node, Text}

import com.fasterxml.jackson.databind.JsonNode
import io.sparkconfig.core.Json

/** The page "Config": what is in use, since when, from where, and who has it. Names and times, never values. */
object ConfigPage {

  def content(state: JsonNode): Seq[Node] = {
    val now = state.path("now").asLong
    val policy = state.path("policy")
    val hidden = state.has("shown_to")
    <div id="sparkconfig">
      <style>{Style}</style>
      {problem(state)}
      {limits(state)}
      <ul class="list-unstyled">
        <li><strong>Generation:</strong> <span id="generation">{state.path("generation").asLong}</span>,
          published {ago(now, state.get("published_at"))}</li>
        <li><strong>Trigger:</strong> {text(state, "reload_trigger")};
          <strong>action:</strong> {text(state, "reload_action")};
          <strong>poll:</strong> {span(state.get("poll_interval_ms"))}</li>
        <li><strong>Side process:</strong> <span id="side">{side(state)}</span></li>
        <li><strong>Executors without the newest generation:</strong>
          <span id="behind">{state.path("executors_behind").asLong}</span></li>
        <li><strong>As of:</strong> {time(now)}; <a href="json/">the same as JSON</a></li>
      </ul>
      {
      table(
        "providers",
        "Providers",
        Seq(
          "Provider",
          "Class",
          "State",
          "Path",
          "Keys",
          "Age",
          "Next read",
          "Last good value expires in",
          "Last error"),
        for (provider <- list(state, "providers"); path <- paths(provider)) yield Seq(
          plain(text(provider, "name")),
          plain(text(provider, "class")),
          standing(path),
          plain(text(path, "path")),
          plain(list(path, "keys").map(_.asText).mkString(", ")),
          plain(span(path.get("age_ms"))),
          plain(next(path)),
          plain(expiry(path)),
          plain(text(path, "error"))))
    }
      {
      table(
        "references",
        "References",
        Seq("Reference", "Conf", "Last change", "Problem"),
        list(state, "references").map(use =>
          Seq(
            list(use, "references").map(each => <code class="d-block">{each.asText}</code>),
            plain(text(use, "key")),
            plain(ago(now, use.get("changed_at"))),
            plain(text(use, "problem")))),
        hidden = hidden)
    }
      {
      table(
        "generations",
        "Generations",
        Seq("Generation", "Published", "Changed", "Added", "Lost"),
        list(state, "generations").map(each =>
          Seq(
            plain(text(each, "generation")),
            plain(ago(now, each.get("at"))),
            names(each, "changed"),
            names(each, "added"),
            names(each, "lost"))))
    }
      {
      table(
        "executors",
        "Executors",
        Seq("Executor", "Generation", "Asked", "State"),
        list(state, "executors").map(executor =>
          Seq(
            plain(text(executor, "id")),
            plain(text(executor, "generation")),
            plain(ago(now, executor.get("asked_at"))),
            if (executor.path("behind").asBoolean) mark("behind", "warn") else mark("newest", "good"))),
        if (state.path("local").asBoolean) LocalMode else "No executor has asked yet.")
    }
      {
      table(
        "decisions",
        "Policy decisions",
        Seq("Time", "User", "Session", "Scope", "Key, reference or table", "Decision", "Reason", "Rule"),
        list(state, "decisions").map(decision =>
          Seq(
            plain(time(decision.path("time").asText)),
            plain(text(decision, "user")),
            <span title={text(decision, "session")}>{text(decision, "session").take(8)}</span>,
            plain(text(decision, "scope")),
            <code>{text(decision, "subject")}</code>,
            verdict(text(decision, "decision")),
            plain(text(decision, "reason")),
            plain(text(decision, "rule")))),
        if (policy.has("mode")) "No decision yet." else "This application has no policies.",
        refusals(policy),
        hidden)
    }
      {
      optional(
        "restarts",
        "Restarts of managed queries",
        Seq("Time", "Query", "Generation", "Changed options", "Took", "Attempts"),
        list(state, "query_restarts").map(restart =>
          Seq(
            plain(ago(now, restart.get("at"))),
            plain(text(restart, "query")),
            plain(text(restart, "generation")),
            plain(list(restart, "changed").map(_.asText).mkString(", ")),
            plain(words((restart.path("seconds").asDouble * 1000).toLong)),
            plain(text(restart, "attempts")))))
    }
    </div>
  }

  /** Class names of its own: Spark's versions bring different Bootstraps. */
  private val Style =
    "#sparkconfig .mark{padding:1px 8px;border-radius:8px;color:#fff;white-space:nowrap}" +
      "#sparkconfig .good{background:#2e7d32}#sparkconfig .bad{background:#b71c1c}" +
      "#sparkconfig .warn{background:#b26a00}#sparkconfig .idle{background:#6c757d}" +
      "#sparkconfig td{overflow-wrap:anywhere}" +
      "#sparkconfig h4{margin-top:1em}"

  private def problem(state: JsonNode): Seq[Node] =
    if (state.hasNonNull("files_problem"))
      <div id="problem" class="alert alert-danger">{text(state, "files_problem")}</div>
    else Nil

  /**
   * @param empty what to say where there are no rows
   * @param note a line above the table
   * @param hidden whether there may be rows that this viewer does not see, so that their number says nothing
   */
  private def table(
      id: String,
      title: String,
      header: Seq[String],
      rows: Seq[Seq[Seq[Node]]],
      empty: String = "",
      note: Seq[Node] = Nil,
      hidden: Boolean = false): Seq[Node] =
    <div>
      <h4>{title} ({
      if (!hidden) rows.size else if (rows.isEmpty) "hidden" else s"${rows.size} shown, others hidden"
    })</h4>
      {note}
      {
      if (rows.isEmpty) (if (empty.isEmpty || hidden) Nil else <p class="text-muted">{empty}</p>)
      else
        <table id={id} class="table table-bordered table-sm table-striped sortable">
          <thead><tr>{header.map(name => <th>{name}</th>)}</tr></thead>
          <tbody>{rows.map(row => <tr>{row.map(cell => <td>{cell}</td>)}</tr>)}</tbody>
        </table>
    }
    </div>

  private def optional(id: String, title: String, header: Seq[String], rows: Seq[Seq[Seq[Node]]]): Seq[Node] =
    if (rows.isEmpty) Nil else table(id, title, header, rows)

  private def plain(text: String): Seq[Node] = Text(text)

  private def mark(text: String, kind: String): Seq[Node] = <span class={s"mark $kind"}>{text}</span>

  private def verdict(word: String): Seq[Node] =
    mark(word, if (word == "allowed") "good" else if (word == "denied") "bad" else "warn")

  /** A provider that nothing asks for has no path; it is listed all the same. */
  private def paths(provider: JsonNode): Seq[JsonNode] = {
    val found = list(provider, "paths")
    if (found.isEmpty) Seq(provider.path("none")) else found
  }

  private def standing(path: JsonNode): Seq[Node] =
    if (path.isMissingNode) mark("not in use", "idle")
    else if (path.path("failures").asLong > 0) mark(s"down (${path.path("failures").asLong} failures)", "bad")
    else mark("up", "good")

  private def next(path: JsonNode): String =
    if (path.isMissingNode) ""
    else if (path.path("pushed").asBoolean) "at a change"
    else span(path.get("due_ms"))

  private def expiry(path: JsonNode): String =
    if (path.path("failures").asLong > 0) span(path.get("expires_ms")) else ""

  private val LocalMode = "Tasks run in the driver in local mode, which always has the newest generation."

  /** What this page leaves out for who looks at it. */
  private def limits(state: JsonNode): Seq[Node] =
    if (!state.has("shown_to")) Nil
    else {
      val user = text(state, "shown_to")
      <div id="shown-to" class="alert alert-info">{
        if (user.isEmpty)
          "Several users share this server, and you are not logged in: what they do is hidden. An operator " +
            "logs in by a filter of the UI (spark.ui.filters) and stands in spark.admin.acls, with " +
            "spark.acls.enable=true."
        else s"Several users share this server: this page shows what $user does; what others do is hidden. " +
          "Those in spark.admin.acls see all, with spark.acls.enable=true."
      }</div>
    }

  private def refusals(policy: JsonNode): Seq[Node] =
    if (!policy.has("mode")) Nil
    else
      <p>Since the side process started, policies have refused
        <strong id="denied">{policy.path("denied").asLong}</strong> and warned of
        <strong id="warned">{policy.path("warned").asLong}</strong> (mode {text(policy, "mode")}).</p>

  private def names(generation: JsonNode, kind: String): Seq[Node] = {
    val shown = list(generation, kind).map(each => <code class="d-block">{each.asText}</code>)
    val more = generation.path(s"${kind}_more").asLong
    if (more == 0) shown else shown ++ Text(s"and $more more")
  }

  private def side(state: JsonNode): String = {
    val node = state.path("side_process")
    val restarts = node.path("restarts").asLong
    val answers = if (node.path("answers").asBoolean) "answers" else "does not answer; the last generation stays in use"
    val again =
      if (restarts == 0) "never restarted" else if (restarts == 1) "restarted once" else s"restarted $restarts times"
    s"process ${node.path("pid").asLong} $answers, $again"
  }

  private def ago(now: Long, at: JsonNode): String =
    if (at == null || at.isNull) "" else s"${time(at.asLong)} (${words(now - at.asLong)} ago)"

  /** As Spark's own pages write it: in the server's time zone. */
  private def time(at: Long): String = Clock.format(Instant.ofEpochMilli(at))

  /** A record's time; any other text stays as it is. */
  private def time(written: String): String =
    Try(Clock.format(java.time.OffsetDateTime.parse(written).toInstant)).getOrElse(written)

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

  private val Clock = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss").withZone(ZoneId.systemDefault())
}
