package io.sparkconfig.driver

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode
import io.sparkconfig.agent.AgentClient
import io.sparkconfig.core.{Json, SparkConfigException}
import io.sparkconfig.executor.ExecutorService
import io.sparkconfig.files.LocalFiles
import io.sparkconfig.ui.QueryRestartEvent

/** What can be told of a running application to people and monitors: names, times and counts, never values. */
private[sparkconfig] final class ApplicationState(
    client: AgentClient,
    values: DriverValues,
    service: ExecutorService,
    local: Boolean) {

  import ApplicationState._

  @volatile private var known: Option[(Long, JsonNode)] = None
  @volatile private var queryRestarts = Seq.empty[QueryRestartEvent]

  def generation: Long = values.snapshot.generation

  def restarts: Int = client.restartCount

  /** The newest generation of each executor that runs, by id; for `sparkconfig refresh --wait`. */
  def reachedJson: JsonNode = {
    val node = Json.obj()
    node.put("generation", generation)
    val reached = node.putObject("executors")
    service.executors.foreach { case (id, seen) => reached.put(id, seen.generation) }
    node
  }

  /** Executors that ask, and do not have the newest generation yet. */
  def executorsBehind: Int = service.behind(generation, silentAfterMs)

  /** A managed query was started again; the last ones are told. */
  def restarted(event: QueryRestartEvent): Unit = synchronized {
    queryRestarts = (event +: queryRestarts).take(RestartsTold)
  }

  /** The side process's account, at most a second old; None while it does not answer. */
  def agent: Option[JsonNode] = {
    val now = System.nanoTime() / 1000000
    known.filter { case (at, _) => now - at < FreshMs }.map(_._2).orElse {
      try {
        val status = client.status()
        known = Some((now, status))
        Some(status)
      } catch { case _: SparkConfigException => None }
    }
  }

  def toJson: JsonNode = {
    val node = agent.map(_.deepCopy[ObjectNode]()).getOrElse(Json.obj())
    node.put("generation", generation)
    node.put("now", System.currentTimeMillis())
    val side = node.putObject("side_process")
    side.put("pid", client.pid.getOrElse(-1L))
    side.put("restarts", restarts)
    side.put("answers", agent.isDefined)
    node.put("local", local)
    LocalFiles.problem.foreach(node.put("files_problem", _))
    val executors = node.putArray("executors")
    service.executors.toSeq.sortBy(_._1).foreach { case (id, seen) =>
      val executor = executors.addObject()
      executor.put("id", id)
      executor.put("generation", seen.generation)
      executor.put("asked_at", seen.at)
      executor.put("behind", seen.generation < generation)
      executor.put("pushed", service.pushesTo(id))
    }
    node.put("executors_behind", executorsBehind)
    val again = node.putArray("query_restarts")
    queryRestarts.foreach { event =>
      val restart = again.addObject()
      restart.put("at", event.time)
      restart.put("query", event.query)
      restart.put("generation", event.generation)
      val changed = restart.putArray("changed")
      event.changed.foreach(name => changed.add(name))
      restart.put("seconds", event.seconds)
      restart.put("attempts", event.attempts)
    }
    node
  }

  private def silentAfterMs: Long = math.max(service.askAgainMs * SilentAsks, client.settings.pollIntervalMs * 5)
}

private object ApplicationState {
  private val FreshMs = 1000L
  private val RestartsTold = 50
  private val SilentAsks = 3
}
