package io.sparkconfig.executor

import java.util.concurrent.{LinkedBlockingQueue, TimeUnit}

import munit.FunSuite

class InboxSuite extends FunSuite {
  test("who cannot take what was pushed says so, until the next message was taken") {
    val taken, troubles = new LinkedBlockingQueue[String]()
    lazy val inbox: Inbox = new Inbox(
      pushed =>
        if (pushed.news.generation == 1) throw new IllegalStateException("no")
        else taken.put("taken"),
      () => troubles.put(s"well: ${inbox.isWell}"))
    inbox.start()
    try {
      def put(generation: Long): Unit =
        inbox.put(Messages.encode(new Pushed(new SnapshotNews(generation, Array[Byte](1), null, 0L), 0L)))
      put(1)
      assertEquals(troubles.poll(30, TimeUnit.SECONDS), "well: false")
      put(2)
      assertEquals(taken.poll(30, TimeUnit.SECONDS), "taken")
    } finally inbox.close()
  }
}
