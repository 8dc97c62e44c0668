package io.sparkconfig.executor

import java.util.concurrent.{Executors, RejectedExecutionException, TimeUnit}

import scala.collection.mutable

import io.sparkconfig.core.Threads
import org.apache.spark.broadcast.Broadcast
import org.slf4j.LoggerFactory

/**
 * Broadcasts of older generations. They stay for executors that are just fetching them: ten seconds, or three when all
 * of them together are large. Who comes later than that fails and asks again.
 */
private[executor] final class RetiredBroadcasts {
  import RetiredBroadcasts._

  private val log = LoggerFactory.getLogger(classOf[RetiredBroadcasts])
  private val kept = mutable.Queue.empty[Kept]
  private val timer = Executors.newSingleThreadScheduledExecutor(Threads.factory("sparkconfig-broadcasts"))

  /** @param size of its content, in bytes */
  def add(old: Broadcast[Array[Byte]], size: Long): Unit = {
    synchronized(kept.enqueue(Kept(old, size, System.nanoTime())))
    release()
    try timer.schedule(new Runnable { override def run(): Unit = release() }, FetchMs, TimeUnit.MILLISECONDS)
    catch { case _: RejectedExecutionException => } // the application ends, and its blocks with it
  }

  def close(): Unit = timer.shutdownNow()

  private def release(): Unit =
    Iterator.continually(late()).takeWhile(_.isDefined).flatten.foreach { old =>
      try old.broadcast.destroy()
      catch { case e: Exception => log.debug("an old snapshot's blocks were not released: {}", e.getClass.getName) }
    }

  private def late(): Option[Kept] = synchronized(kept.headOption.filter(isLate).map(_ => kept.dequeue()))

  private def isLate(old: Kept): Boolean = {
    val age = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - old.since)
    age >= FetchMs || (age >= LeastFetchMs && kept.iterator.map(_.size).sum > MostBytes)
  }
}

private object RetiredBroadcasts {
  private final case class Kept(broadcast: Broadcast[Array[Byte]], size: Long, since: Long)

  private val FetchMs = 10000L
  private val LeastFetchMs = 3000L
  // A broadcast is in the driver's memory twice: as a value and as the blocks that executors fetch.
  private val MostBytes = 16L << 20
}
