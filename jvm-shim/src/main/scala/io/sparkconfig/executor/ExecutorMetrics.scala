package io.sparkconfig.executor

import com.codahale.metrics.{Gauge, MetricRegistry}

/** An executor's metrics; Spark puts the plugin's class before their names. */
private[executor] object ExecutorMetrics {
  def register(registry: MetricRegistry, values: ExecutorValues): Unit = {
    registry.register("generation", gauge(values.snapshot.generation))
    registry.register("silenceMs", gauge(values.silenceMs))
  }

  private def gauge(value: => Long): Gauge[Long] = new Gauge[Long] { override def getValue: Long = value }
}
