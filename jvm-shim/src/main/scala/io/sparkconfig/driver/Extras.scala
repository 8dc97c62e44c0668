package io.sparkconfig.driver

import com.codahale.metrics.MetricRegistry
import io.sparkconfig.agent.AgentClient
import io.sparkconfig.core.Snapshot
import io.sparkconfig.executor.workers.WorkerServer
import io.sparkconfig.policy.PolicyClient
import io.sparkconfig.redaction.engine.Redactor
import org.apache.spark.SparkContext
import org.apache.spark.sparkconfig.ConfigTab
import org.slf4j.LoggerFactory

/**
 * What accompanies a running application without being part of its work: the service for Python workers on this
 * machine, metrics, the page in Spark's UI, and the socket of `sparkconfig refresh`. What fails here is reported and
 * stops nothing.
 */
private[driver] final class Extras(client: AgentClient, values: DriverValues) {
  private val log = LoggerFactory.getLogger(classOf[Extras])
  @volatile private var workers: Option[WorkerServer] = None

  def begin(sc: SparkContext, applicationId: String, metrics: MetricRegistry, state: ApplicationState): Unit = {
    attempt("'sparkconfig refresh'")(client.announce(applicationId))
    attempt("metrics")(DriverMetrics.register(metrics, state))
    attempt("the page Config")(ConfigTab.attach(sc, () => state.toJson))
    if (client.settings.workerAccess) attempt("Python workers on the driver") {
      val server = new WorkerServer(values, policies = PolicyClient.running.isDefined)
      server.start()
      workers = Some(server)
    }
    else WorkerServer.none()
  }

  def publish(snapshot: Snapshot): Unit = workers.foreach(_.publish(snapshot))

  def close(): Unit = workers.foreach(_.close())

  private def attempt(what: String)(action: => Unit): Unit =
    try action
    catch { case e: Exception => log.error(s"$what will not work: ${Redactor.redact(e.toString)}") }
}
