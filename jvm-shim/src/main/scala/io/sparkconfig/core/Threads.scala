package io.sparkconfig.core

import java.util.concurrent.{LinkedBlockingQueue, ThreadFactory, ThreadPoolExecutor, TimeUnit}

/** The threads of this package: each has a name, and none keeps a JVM alive. */
private[sparkconfig] object Threads {

  /** A thread that is not started yet. */
  def daemon(name: String)(action: => Unit): Thread = factory(name).newThread(() => action)

  /** Makes the threads of a pool. */
  def factory(name: String): ThreadFactory = { (task: Runnable) =>
    val thread = new Thread(task, name)
    thread.setDaemon(true)
    thread
  }

  /** Threads that come with the work, and end when there is none. */
  def pool(name: String, most: Int): ThreadPoolExecutor = {
    val waiting = new LinkedBlockingQueue[Runnable]
    val made = new ThreadPoolExecutor(most, most, 10L, TimeUnit.SECONDS, waiting, factory(name))
    made.allowCoreThreadTimeOut(true)
    made
  }

  /** A thread that ends with the JVM; the caller may take it back with `removeShutdownHook`. */
  def atExit(name: String)(action: => Unit): Thread = new Thread(() => action, name)
}
