package io.sparkconfig.executor

import scala.collection.mutable

/**
 * When all executors had a generation. An executor has it when it says so, with its next question to the driver.
 * Called on Spark's dispatcher thread: each call costs a few look-ups, however many executors there are.
 */
private[executor] final class GenerationReach {
  import GenerationReach._

  private val open = mutable.LinkedHashMap.empty[Long, Waiting]
  private val done = mutable.LinkedHashMap.empty[Long, Reached]

  /** A generation is what these executors get from now on. */
  def published(generation: Long, executors: Iterable[String], now: Long): Unit = synchronized {
    if (executors.nonEmpty && !open.contains(generation) && !done.contains(generation)) {
      open(generation) = new Waiting(now, mutable.HashSet(executors.toSeq: _*))
      while (open.size > MostOpen) open.remove(open.head._1)
    }
  }

  /** An executor has this generation, and with it what all older ones brought. */
  def has(executor: String, generation: Long, now: Long): Unit = synchronized {
    open.keys.filter(_ <= generation).toList.foreach(leave(_, executor, now))
  }

  /** An executor is gone: the generation no longer waits for it. */
  def forget(executor: String, now: Long): Unit = synchronized(open.keys.toList.foreach(leave(_, executor, now)))

  /** How far a generation has come; None: no executors ran when it was published, or that was long ago. */
  def of(generation: Long): Option[Reached] = synchronized {
    done.get(generation).orElse(open.get(generation).map(waiting => Reached(waiting.all, waiting.executors.size, -1L)))
  }

  private def leave(generation: Long, executor: String, now: Long): Unit = open.get(generation).foreach { waiting =>
    if (waiting.executors.remove(executor) && waiting.executors.isEmpty) {
      open.remove(generation)
      done(generation) = Reached(waiting.all, 0, now - waiting.since)
      while (done.size > MostDone) done.remove(done.head._1)
    }
  }
}

/**
 * @param executors how many had to get it
 * @param missing how many have not said yet that they have it
 * @param tookMs milliseconds until the last one had it, or -1
 */
private[sparkconfig] final case class Reached(executors: Int, missing: Int, tookMs: Long)

private object GenerationReach {
  private val MostOpen = 5
  private val MostDone = 50

  private final class Waiting(val since: Long, val executors: mutable.HashSet[String]) {
    val all: Int = executors.size
  }
}
