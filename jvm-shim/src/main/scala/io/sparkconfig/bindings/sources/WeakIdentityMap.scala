package io.sparkconfig.bindings.sources

import java.lang.ref.{ReferenceQueue, WeakReference}
import java.util.concurrent.ConcurrentHashMap

/**
 * What is known about an object: found by the object itself, not by what equals it, and forgotten when nobody holds the
 * object any more. A value that leads to its own key would hold it for ever. For any thread.
 */
private[sources] final class WeakIdentityMap[K <: AnyRef, V <: AnyRef] {
  private val gone = new ReferenceQueue[AnyRef]
  private val known = new ConcurrentHashMap[WeakIdentityMap.Key, V]()

  def put(key: K, value: V): Unit = update(key)(_ => value)

  /** Put what becomes of the value that is known so far, in one step. */
  def update(key: K)(change: Option[V] => V): Unit = {
    forget()
    known.compute(new WeakIdentityMap.Key(key, gone), (_, before) => change(Option(before)))
  }

  def get(key: K): Option[V] = {
    forget()
    Option(known.get(new WeakIdentityMap.Key(key, null)))
  }

  def isEmpty: Boolean = known.isEmpty

  def size: Int = { forget(); known.size }

  private def forget(): Unit = {
    var key = gone.poll()
    while (key != null) {
      known.remove(key)
      key = gone.poll()
    }
  }
}

private object WeakIdentityMap {

  /** Equal when it stands for the same object. */
  private final class Key(of: AnyRef, queue: ReferenceQueue[AnyRef]) extends WeakReference[AnyRef](of, queue) {
    private val hash = System.identityHashCode(of)

    override def hashCode: Int = hash

    override def equals(other: Any): Boolean = other match {
      case key: Key => (this eq key) || (get != null && (get eq key.get))
      case _ => false
    }
  }
}
