package io.sparkconfig.executor

import scala.util.Try

/**
 * What a process has of the driver's values. Tasks carry the driver's state of the moment in which their job was
 * submitted: with it an executor knows, before any code of the task runs, whether it is behind.
 *
 * @param generation of its snapshot
 * @param masks how many of the driver's values it masks, old ones included
 */
private[sparkconfig] final case class ExecutorState(generation: Long, masks: Long) {
  def text: String = s"$generation.$masks"
}

private[sparkconfig] object ExecutorState {

  /** The local property of tasks; it holds two numbers, and shows in the event log. */
  val Property = "sparkconfig.state"

  val None: ExecutorState = ExecutorState(0L, 0L)

  def parse(text: String): Option[ExecutorState] = text.split('.') match {
    case Array(generation, masks) => Try(ExecutorState(generation.toLong, masks.toLong)).toOption
    case _ => Option.empty
  }
}
