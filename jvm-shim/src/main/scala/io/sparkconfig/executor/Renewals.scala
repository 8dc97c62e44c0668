package io.sparkconfig.executor

import java.util.concurrent.{ExecutorService => Pool}
import java.util.{LinkedHashMap => JLinkedHashMap, Map => JMap}

import org.slf4j.LoggerFactory

/**
 * Executors whose connections were refused: however many report the same expressions, their stores are asked once for
 * all who reported before.
 *
 * @param renew asks the stores of expressions, by their ids; returns after how many milliseconds asking again is
 *              worthwhile, or 0
 * @param pool where they are asked
 */
private[executor] final class Renewals(renew: Iterable[String] => Long, pool: Pool) {
  import Renewals._

  private val log = LoggerFactory.getLogger(classOf[Renewals])
  private val byIds = new JLinkedHashMap[Set[String], Turns](16, 0.75f, true) {
    override def removeEldestEntry(eldest: JMap.Entry[Set[String], Turns]): Boolean = size > MostKept
  }

  /** Reads memory only. */
  def reply(ids: Set[String], ticket: Long): Message = synchronized {
    val known = Option(byIds.get(ids))
    if (ticket == 0) Renewing(next(ids, known.getOrElse { val made = new Turns; byIds.put(ids, made); made }))
    else known match {
      case Some(turns) if turns.finished < ticket => Renewing(ticket)
      case Some(turns) => Renewed(turns.waitMs)
      case None => Renewed(0) // so long ago that it is forgotten
    }
  }

  /** The turn that begins after this moment: one that has begun may have read before. */
  private def next(ids: Set[String], turns: Turns): Long = {
    if (!turns.queued) {
      turns.queued = true
      pool.submit(new Runnable { override def run(): Unit = take(ids, turns) })
    }
    turns.begun + 1
  }

  private def take(ids: Set[String], turns: Turns): Unit = {
    val turn = synchronized { turns.queued = false; turns.begun += 1; turns.begun }
    val waitMs =
      try renew(ids)
      catch { case e: Exception => log.warn("values that were refused are not renewed: {}", e.getClass.getName); 0L }
    // A later turn of the same may have ended before.
    synchronized { if (turn > turns.finished) { turns.finished = turn; turns.waitMs = waitMs } }
  }
}

private object Renewals {
  private final class Turns {
    var queued = false
    var begun = 0L
    var finished = 0L
    var waitMs = 0L
  }

  private val MostKept = 1000
}
