package io.sparkconfig.redaction.engine

import java.util.{ArrayDeque, Collection => JCollection, HashSet => JHashSet}

/**
 * The registered values, and the search for them, made when a text is searched: adding a value costs its own length.
 * All methods are thread-safe.
 *
 * A fault on the way, such as a heap that is full, loses nothing: what is not searched for yet is tried again with the
 * next text, and that fails until it is there.
 * @param needles of one of a value's texts
 */
private[redaction] final class Registered(needles: String => JCollection[Needle] = Needles.of) {
  private val known = new JHashSet[String]()
  private val texts = new JHashSet[String]()
  private val pending = new ArrayDeque[String]()
  private val searched = new Search
  @volatile private var stale = false
  @volatile private var made = 0

  def add(values: Iterator[String]): Unit = synchronized {
    values.foreach { value =>
      if (!known.contains(value)) {
        pending.add(value)
        stale = true
        known.add(value)
      }
    }
  }

  /** The number of registered values. */
  def size: Int = synchronized(known.size)

  /** How many are searched for. */
  def version: Int = { search; made }

  def isEmpty: Boolean = !stale && made == 0

  def search: Search = {
    if (stale) synchronized {
      while (!pending.isEmpty) {
        make(pending.peek())
        pending.remove()
        made += 1
      }
      stale = false
    }
    searched
  }

  /** The documents of several generations share most of their fields. */
  private def make(value: String): Unit = Forms.texts(value).forEach { text =>
    if (!texts.contains(text)) {
      needles(text).forEach(needle => searched.add(needle))
      texts.add(text)
    }
  }
}
