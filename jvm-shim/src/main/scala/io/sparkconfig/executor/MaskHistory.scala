package io.sparkconfig.executor

import scala.collection.mutable

/**
 * Every value that executors must mask, in the order in which the driver came to know them. A snapshot holds what is
 * good now; an executor that starts late, or has missed a generation, may be handed an older value by a task.
 *
 * Values are counted for ever, and kept up to [[MaskHistory.MostChars]]: the oldest ones go first.
 */
private[executor] final class MaskHistory {
  private val values = mutable.LinkedHashSet.empty[String]
  private var dropped = 0L
  private var chars = 0L

  /** How many there were so far. */
  def count: Long = synchronized(dropped + values.size)

  /** Adds what is new. */
  def add(fresh: Iterable[String]): Unit = synchronized {
    fresh.foreach(value => if (values.add(value)) chars += value.length)
    while (chars > MaskHistory.MostChars) {
      chars -= values.head.length
      values -= values.head
      dropped += 1
    }
  }

  /** How many there are by now, and those after the first `known`, as far as they are kept. */
  def since(known: Long): (Long, Seq[String]) = synchronized {
    (dropped + values.size, values.iterator.drop(math.max(0L, known - dropped).toInt).toVector)
  }
}

private[executor] object MaskHistory {
  val MostChars: Long = 4L << 20
}
