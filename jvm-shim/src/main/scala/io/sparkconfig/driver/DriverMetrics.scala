package io.sparkconfig.driver

import scala.collection.JavaConverters._

import com.codahale.metrics.{Gauge, MetricRegistry}
import com.fasterxml.jackson.databind.JsonNode

/** The driver's metrics; Spark puts the plugin's class before their names. -1 stands for "not known". */
private[driver] object DriverMetrics {
  def register(registry: MetricRegistry, state: ApplicationState): Unit = {
    def gauge(name: String)(value: => Long): Unit =
      registry.register(name, new Gauge[Long] { override def getValue: Long = value })
    def told(read: JsonNode => Long): Long = state.agent.map(read).getOrElse(-1L)

    gauge("generation")(state.generation)
    gauge("generationAgeSeconds")(told(s => (System.currentTimeMillis() - s.path("published_at").asLong) / 1000))
    gauge("providers")(told(_.path("providers").size.toLong))
    gauge("providersUp")(told(s => elements(s, "providers").count(_.path("up").asBoolean).toLong))
    gauge("secondsToExpiry")(told(s => soonestExpiry(s)))
    gauge("refreshes")(told(_.path("rounds").asLong))
    gauge("failures")(told(_.path("failed_rounds").asLong))
    gauge("policyViolations")(told(_.path("policy").path("denied").asLong))
    gauge("policyWarnings")(told(_.path("policy").path("warned").asLong))
    gauge("auditFailures")(told(_.path("policy").path("audit_failures").asLong))
    gauge("executorsBehind")(state.executorsBehind.toLong)
    gauge("sideProcessRestarts")(state.restarts.toLong)
  }

  /** Of paths whose store cannot be reached: the seconds until the first last good value ends. */
  private def soonestExpiry(status: JsonNode): Long = {
    val left = for {
      provider <- elements(status, "providers")
      path <- elements(provider, "paths")
      if path.path("failures").asLong > 0 && path.hasNonNull("expires_ms")
    } yield path.path("expires_ms").asLong / 1000
    if (left.isEmpty) -1L else left.min
  }

  private def elements(node: JsonNode, name: String): Seq[JsonNode] = node.path(name).elements().asScala.toList
}
