package io.sparkconfig.executor

import java.lang.reflect.{InvocationHandler, Method, Proxy}
import java.util.concurrent.atomic.AtomicReference

import io.sparkconfig.core.Snapshot
import munit.FunSuite
import org.apache.spark.api.plugin.PluginContext

class ExecutorValuesSuite extends FunSuite {

  test("a task begins when workers have been told of its generation, and not before") {
    val values = new ExecutorValues(driver(Snapshot(2, Map.empty, Set.empty)), 1000, policies = false, isShared = false)
    val began = new AtomicReference[Thread.State]()
    values.onChange { _ =>
      val task = new Thread(() => values.reach(ExecutorState(2, 0)))
      task.start()
      // It waits, or has gone on.
      while (!Set(Thread.State.TIMED_WAITING, Thread.State.TERMINATED).contains(task.getState)) Thread.`yield`()
      began.set(task.getState)
    }
    values.refresh()
    assertEquals(began.get, Thread.State.TIMED_WAITING)
    values.reach(ExecutorState(2, 0))
  }

  /** A driver that has one generation. */
  private def driver(snapshot: Snapshot): PluginContext = {
    val key = SnapshotCipher.newKey()
    val news = new SnapshotNews(snapshot.generation, new SnapshotCipher(key).encrypt(snapshot), null, 0L)
    val answers = new InvocationHandler {
      override def invoke(proxy: Any, method: Method, arguments: Array[AnyRef]): AnyRef = method.getName match {
        case "ask" => Messages.encode(Messages.decode(arguments(0)) match {
            case Some(AskKey) => new Key(key)
            case Some(AskSnapshot(known, _, _)) if known < snapshot.generation => news
            case _ => Unchanged(1000)
          })
        case "executorID" => "1"
        case _ => null
      }
    }
    Proxy.newProxyInstance(getClass.getClassLoader, Array(classOf[PluginContext]), answers).asInstanceOf[PluginContext]
  }
}
