package io.sparkconfig.bindings.sources

import java.lang.ref.{ReferenceQueue, WeakReference}
import java.util.concurrent.ConcurrentHashMap

/**
 * Values that spell a reference themselves. Spark makes new maps, relations and plans of the options that a source
 * got, and the rules meet them again: they know such a value by its object, which those all share, and leave it alone.
 * A text that a user writes is another object, whatever it spells.
 */
private[sources] object ResolvedTexts {
  private val gone = new ReferenceQueue[String]
  private val known = ConcurrentHashMap.newKeySet[Key]()

  /** The text as an object of its own, which is never resolved. */
  def mark(value: String): String = {
    forget()
    val own = new String(value)
    known.add(new Key(own, gone))
    own
  }

  def contains(text: String): Boolean = known.contains(new Key(text, null))

  private def forget(): Unit = {
    var key = gone.poll()
    while (key != null) {
      known.remove(key)
      key = gone.poll()
    }
  }

  /** Equal when it stands for the same object. */
  private final class Key(text: String, queue: ReferenceQueue[String]) extends WeakReference[String](text, queue) {
    private val hash = System.identityHashCode(text)

    override def hashCode: Int = hash

    override def equals(other: Any): Boolean = other match {
      case key: Key => (this eq key) || (get != null && (get eq key.get))
      case _ => false
    }
  }
}
