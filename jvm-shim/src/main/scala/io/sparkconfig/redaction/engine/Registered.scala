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
  private val prints = new Fingerprints
  private val unprinted = new ArrayList[String]()
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

  /** How many values there are, the salt, and the fingerprints after the first `count`. */
  def fingerprints(count: Int): (Int, String, Seq[Long]) = synchronized {
    if (stale) make()
    unprinted.forEach(text => prints.add(text))
    unprinted.clear()
    (known.size, prints.salt, prints.since(count))
  }

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
    unprinted.addAll(fresh)
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
    val (fragments, others) = fresh.toArray(new Array[Pattern](0)).partition(_.fragment)
    val (ofFragments, ofOthers) = old.partition(_.ofFragments)
    extended(ofOthers, others, withErrors = ofFragments.nonEmpty || fragments.nonEmpty) ++
      extended(ofFragments, fragments, withErrors = false)
  }

  /** @param withErrors whether there are fragments, which are looked for in errors alone */
  private def extended(old: Array[Index], fresh: Array[Pattern], withErrors: Boolean): Array[Index] = {
    if (fresh.isEmpty) return old
    var kept = old
    var patterns = fresh
    while (kept.nonEmpty && kept.last.patterns.length <= math.max(2 * patterns.length, 512)) {
      patterns = kept.last.patterns ++ patterns
      kept = kept.init
    }
    // The first one, which often is the only one, finds the errors.
    kept :+ new Index(patterns, withErrors && kept.isEmpty)
  }
}
