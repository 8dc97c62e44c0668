package io.sparkconfig.driver

import java.util.concurrent.atomic.AtomicReference

import scala.annotation.tailrec

import io.sparkconfig.core.Snapshot

/**
 * What the driver holds. Newer never gives way to older: answers of two threads may cross, and one of a side process
 * that has ended may be read after another process was told what to go on from.
 *
 * @param register gets what news bring before anything else can have it: also what is left aside may be in use
 */
private[driver] final class Held(first: Snapshot, register: Snapshot => Unit) {
  private val newest = new AtomicReference(first)

  def get: Snapshot = newest.get

  /** What the process at the other end of a new connection is told; answers over older ones count no more. */
  def continuedOver(connection: Long): Snapshot = newest.updateAndGet(_.copy(connection = connection))

  /**
   * @return what was held before and what is now, or None if a process has answered that another one has replaced
   */
  @tailrec def take(news: Snapshot): Option[(Snapshot, Snapshot)] = {
    val before = get
    val isOld = news.connection < before.connection
    val after =
      if (isOld || news.generation != before.generation) {
        register(news)
        if (isOld || news.generation < before.generation) before else news
      } else {
        val part = news.only(id => !before.values.contains(id))
        register(part)
        if (part.values.isEmpty) before else before.and(if (news.files.isEmpty) part else news)
      }
    if (newest.compareAndSet(before, after)) { if (isOld) None else Some(before -> after) }
    else take(news)
  }
}
