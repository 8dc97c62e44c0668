package org.apache.spark.sparkconfig.bench

import java.nio.file.{Files, Paths}
import java.util.concurrent.atomic.{AtomicLong, AtomicLongArray, LongAdder}
import java.util.concurrent.{ConcurrentHashMap, DelayQueue, Delayed, ThreadLocalRandom, TimeUnit}

import scala.concurrent.ExecutionContext.Implicits.global
import scala.jdk.CollectionConverters._
import scala.util.{Failure, Success}

import org.apache.spark.internal.plugin.PluginMessage
import org.apache.spark.rpc.{RpcAddress, RpcEnv, ThreadSafeRpcEndpoint}
import org.apache.spark.serializer.JavaSerializer
import org.apache.spark.{SecurityManager, SparkConf}

/**
 * Simulated executors: each listens for news at an endpoint of its own, says what it has, and asks a real driver's
 * plugin endpoint besides, over Spark's own RPC, at its jittered interval, or as seldom as the driver's answer says.
 * Arguments: host, port, file with the authentication secret, executors, interval in ms, seconds, whether they listen.
 *
 * Prints one JSON object. Times are milliseconds; `arrivals` is, for each generation, how many simulated executors got
 * it and when the first and the last one did (since the epoch).
 */
object ExecutorLoad {
  private final class Turn(val executor: Int, val at: Long) extends Delayed {
    override def getDelay(unit: TimeUnit): Long = unit.convert(at - System.nanoTime(), TimeUnit.NANOSECONDS)
    override def compareTo(other: Delayed): Int = java.lang.Long.compare(at, other.asInstanceOf[Turn].at)
  }

  private final class Arrivals {
    val count = new LongAdder
    val first = new AtomicLong(Long.MaxValue)
    val last = new AtomicLong(0L)
    @volatile var bytes = 0L
  }

  def main(arguments: Array[String]): Unit = {
    val Array(host, port, secretFile, executors, pollMs, seconds, listen) = arguments
    val conf = new SparkConf(false)
      .set("spark.authenticate", "true")
      .set("spark.authenticate.secret", Files.readString(Paths.get(secretFile)).trim)
      .set("spark.network.crypto.enabled", "true")
    val env = RpcEnv.create("load", host, 0, conf, new SecurityManager(conf), clientMode = true)
    // Spark's endpoint is named after its private class.
    val driver = env.setupEndpointRef(RpcAddress(host, port.toInt), "org.apache.spark.internal.plugin.PluginEndpoint")
    val count = executors.toInt
    val pollNs = pollMs.toLong * 1000000
    val serializer = new JavaSerializer(conf).newInstance()
    def size(message: AnyRef): Long = serializer.serialize(message).limit().toLong

    val known, masks = new AtomicLongArray(count)
    val arrivals = new ConcurrentHashMap[Long, Arrivals]()
    val latencies = new java.util.concurrent.ConcurrentLinkedQueue[java.lang.Long]()
    val asked, failed = new LongAdder
    @volatile var unchangedBytes = 0L
    val turns = new DelayQueue[Turn]()
    // Soon, so that nobody's first snapshot is counted as load; only from then on at any time of the interval.
    val beginNs = math.min(pollNs, math.max(2000000000L, count * 1500000L))
    (0 until count).foreach(each => turns.add(new Turn(each, System.nanoTime() + (beginNs * math.random()).toLong)))
    // A first question for the snapshot, a second one for the driver's interval; then at any time of that.
    val begun = new java.util.concurrent.atomic.AtomicIntegerArray(count)
    @volatile var askNs = pollNs

    def told(message: AnyRef*): PluginMessage = PluginMessage("io.sparkconfig.ConfigPlugin", message.toArray[AnyRef])

    /** A simulated executor has a generation; in no other way than a real one it says so. */
    def arrived(each: Int, generation: Long, masked: Long, answer: AnyRef): Unit =
      if (known.getAndUpdate(each, old => math.max(old, generation)) < generation) {
        masks.set(each, masked)
        val of = arrivals.computeIfAbsent(generation, _ => new Arrivals)
        val at = System.currentTimeMillis()
        of.count.increment()
        of.first.accumulateAndGet(at, math.min)
        of.last.accumulateAndGet(at, math.max)
        if (of.bytes == 0L) of.bytes = size(answer)
      }

    if (listen.toBoolean) (0 until count).foreach { each =>
      val reference = env.setupEndpoint(
        s"push-$each",
        new ThreadSafeRpcEndpoint {
          override val rpcEnv: RpcEnv = env
          override def receive: PartialFunction[Any, Unit] = {
            case Array("pushed", _, Array("snapshot", generation: java.lang.Long, _, _, masked: java.lang.Long, _*)) =>
              arrived(each, generation, masked, "")
              driver.send(told("have", s"load-$each", generation, masked))
          }
        })
      driver.ask[AnyRef](told("listen", s"load-$each", reference))
    }

    val end = System.nanoTime() + seconds.toLong * 1000000000L
    // The first snapshots are not counted as load.
    val measured = System.nanoTime() + (if (listen.toBoolean) 2 * beginNs else pollNs + pollNs / 4)
    while (System.nanoTime() < end) {
      val turn = turns.poll(100, TimeUnit.MILLISECONDS)
      if (turn != null) {
        val each = turn.executor
        val began = System.nanoTime()
        val message = PluginMessage(
          "io.sparkconfig.ConfigPlugin",
          Array[AnyRef]("ask-snapshot", Long.box(known.get(each)), Long.box(masks.get(each)), s"load-$each"))
        driver.ask[AnyRef](message).onComplete { answer =>
          val now = System.nanoTime()
          if (began > measured) { asked.increment(); latencies.add((now - began) / 1000) }
          answer match {
            case Success(Array("snapshot", generation: java.lang.Long, _, _, masked: java.lang.Long, _, _, _)) =>
              arrived(each, generation, masked, answer.get)
            case Success(reply @ Array("unchanged", againMs: java.lang.Long)) =>
              if (listen.toBoolean) askNs = math.max(pollNs, againMs * 1000000)
              if (unchangedBytes == 0L) unchangedBytes = size(reply.asInstanceOf[AnyRef])
            case Success(reply) => if (unchangedBytes == 0L) unchangedBytes = size(reply)
            case Failure(_) => failed.increment()
          }
          val random = ThreadLocalRandom.current()
          val pause = begun.getAndIncrement(each) match {
            case 0 => random.nextLong(beginNs)
            case 1 => random.nextLong(askNs)
            case _ => askNs - askNs / 10 + random.nextLong(askNs / 5)
          }
          turns.add(new Turn(each, now + pause))
        }
      }
    }
    val spent = (System.nanoTime() - measured) / 1e9
    val sorted = latencies.asScala.map(_.longValue).toArray.sorted
    def at(share: Double): Double = if (sorted.isEmpty) -1 else sorted(((sorted.length - 1) * share).toInt) / 1000.0
    val lines = arrivals.asScala.toSeq.sortBy(_._1).map { case (generation, of) =>
      s""""$generation": {"count": ${of.count.sum}, "first": ${of.first.get}, """ +
        s""""last": ${of.last.get}, "bytes": ${of.bytes}}"""
    }
    println(s"""{"asks_per_second": ${asked.sum / spent}, "failed": ${failed.sum}, "median_ms": ${at(0.5)},
      | "p99_ms": ${at(0.99)}, "worst_ms": ${at(1.0)}, "unchanged_bytes": $unchangedBytes,
      | "arrivals": {${lines.mkString(", ")}}}""".stripMargin.replace("\n", ""))
    System.out.flush()
    Runtime.getRuntime.halt(0)
  }
}
