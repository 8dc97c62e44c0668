package io.sparkconfig.api

import io.sparkconfig.binding.{Expression, Values}
import io.sparkconfig.plugin.Application

/** What the driver's own code may ask: PySpark reaches it through Py4J, Scala and Java directly. */
object DriverApi {
  /** The newest value of a text with references. It is a secret: keep it out of logs and plans. */
  def current(text: String): String = Values.resolve(Expression(text))

  /** The generation that this driver has published last. */
  def generation: Long = Values.snapshot.generation

  /** The side process's id, or -1 while none runs. */
  def agentPid: Long = Application.agent.flatMap(_.pid).getOrElse(-1L)

  /** How often the side process was started again. */
  def agentRestarts: Int = Application.agent.map(_.restartCount).getOrElse(0)
}
