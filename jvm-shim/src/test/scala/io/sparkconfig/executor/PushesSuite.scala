package io.sparkconfig.executor

import java.util.concurrent.{LinkedBlockingQueue, TimeUnit}

import munit.FunSuite

class PushesSuite extends FunSuite {
  private val Soon = 20L
  private val Never = 3600000L

  /** Pushes whose messages end in a queue, by the name of the listener. */
  private final class Sent(againMs: Long) {
    val messages = new LinkedBlockingQueue[(String, Long)]()
    @volatile var newest = news(1)
    val pushes = new Pushes(
      () => Some(newest),
      (reference, wire) => {
        val generation = Messages.decode(wire).collect { case pushed: Pushed => pushed.news.generation }.get
        messages.add(reference.toString -> generation): Unit
      },
      againMs)

    def next(): (String, Long) = messages.poll(30, TimeUnit.SECONDS)

    /** The next message that differs from these, which a round that was under way may have sent once more. */
    def nextBut(other: (String, Long)*): (String, Long) = Iterator.continually(next()).find(!other.contains(_)).get
  }

  private def news(generation: Long) = new Pushed(new SnapshotNews(generation, Array[Byte](1), null, 0L), 0L)

  private def having(generation: Long) = ExecutorState(generation, 0L)

  private def sending(againMs: Long)(body: Sent => Unit): Unit = {
    val sent = new Sent(againMs)
    sent.pushes.start()
    try body(sent)
    finally sent.pushes.close()
  }

  test("news that nobody has answered are sent again, and to nobody who has") {
    sending(Soon) { sent =>
      sent.pushes.listen("well", "well")
      sent.pushes.has("well", having(1))
      sent.pushes.listen("lost", "lost")
      sent.pushes.tell()
      assertEquals(sent.next(), "lost" -> 1L)
      assertEquals(sent.next(), "lost" -> 1L)
      sent.pushes.has("lost", having(1))
      sent.newest = news(2)
      sent.pushes.tell()
      val first = sent.nextBut("lost" -> 1L)
      assertEquals(Set(first, sent.nextBut("lost" -> 1L, first)), Set("well" -> 2L, "lost" -> 2L))
    }
  }

  test("a paused executor gets three, whether they are the same or not, and all that is new once it answers") {
    sending(Soon) { sent =>
      sent.pushes.listen("paused", "paused")
      sent.pushes.tell()
      assertEquals(Seq.fill(3)(sent.next()), Seq.fill(3)("paused" -> 1L))
      // Another one's answer shows that time has passed and nothing was sent to the first.
      sent.newest = news(2)
      sent.pushes.listen("well", "well")
      sent.pushes.tell()
      assertEquals(sent.nextBut("well" -> 1L), "well" -> 2L)
      sent.pushes.has("well", having(2))
      sent.pushes.has("paused", having(1))
      assertEquals(sent.nextBut("well" -> 2L), "paused" -> 2L)
    }
  }

  test("what was sent is not sent again before its time") {
    sending(Never) { sent =>
      sent.pushes.listen("a", "a")
      sent.pushes.tell()
      assertEquals(sent.next(), "a" -> 1L)
      sent.pushes.tell()
      sent.newest = news(2)
      sent.pushes.tell()
      assertEquals(sent.next(), "a" -> 2L)
    }
  }
}
