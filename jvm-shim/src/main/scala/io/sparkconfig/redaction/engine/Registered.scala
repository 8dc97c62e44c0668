package io.sparkconfig.redaction.engine

import java.util.{ArrayList, HashSet => JHashSet}

/**
 * The registered values, and the indexes that find them, made when a text is searched. All methods are thread-safe.
 *
 * A fault on the way, such as a heap that is full, loses nothing: what is not in the indexes yet is tried again with
 * the next text, and that fails until it is there.
 * @param extend adds texts to indexes
 */
private[redaction] final class Registered(extend: (Array[Index], ArrayList[String]) => Array[Index]) {
  private val known = new JHashSet[String]()
  private val texts = new JHashSet[String]()
  private var pending = new ArrayList[String]()
  @volatile private var stale = false
  @volatile private var made = new Array[Index](0)

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

  def isEmpty: Boolean = !stale && made.length == 0

  def indexes: Array[Index] = {
    if (stale) synchronized { if (stale) make() }
    made
  }

  private def make(): Unit = {
    // The documents of several generations share most of their fields.
    val fresh = new JHashSet[String]()
    pending.forEach(value => Forms.texts(value).forEach(text => if (!texts.contains(text)) fresh.add(text)))
    made = extend(made, new ArrayList[String](fresh))
    texts.addAll(fresh)
    pending = new ArrayList[String]()
    stale = false
  }
}

/** A few indexes of growing size, so that values that come one by one cost n log n and not n². */
private[redaction] object Indexes {
  def extend(old: Array[Index], texts: ArrayList[String]): Array[Index] = {
    val fresh = new ArrayList[Pattern]()
    texts.forEach(text => fresh.addAll(Variants.of(text)))
    if (fresh.isEmpty) return old
    var kept = old
    var patterns = fresh.toArray(new Array[Pattern](0))
    while (kept.nonEmpty && kept.last.patterns.length <= math.max(2 * patterns.length, 512)) {
      patterns = kept.last.patterns ++ patterns
      kept = kept.init
    }
    kept :+ new Index(patterns)
  }
}
