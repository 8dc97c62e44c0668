package io.sparkconfig.redaction.engine

import java.util.{Collection => JCollection, HashSet => JHashSet, LinkedHashMap, LinkedHashSet}

/**
 * The registered values, and the search for them, made when a text is searched: adding a value costs its own length.
 * All methods are thread-safe.
 *
 * A fault on the way, such as a heap that is full, loses nothing: what is not searched for yet is tried again with the
 * next text, and that fails until it is there.
 * @param needles of one of a value's texts
 * @param seconds that only grow
 */
private[redaction] final class Registered(
    needles: String => JCollection[Needle] = Needles.of,
    seconds: () => Long = () => System.nanoTime() / 1000000000L) {
  import Registered._

  private val known = new JHashSet[String]()

  /** Values with a generation, the longest unseen first. */
  private val seen = new LinkedHashMap[String, Seen]()

  /** How many are searched for and no longer known. */
  private var forgotten = 0
  private val pending = new LinkedHashSet[String]()
  @volatile private var searched = new Searched
  @volatile private var stale = false
  @volatile private var made = 0

  /**
   * @param generation of the answer that holds them all. A value that was in none of the last 1,000 generations, nor of
   *                   the last 24 hours, is forgotten. 0: they are kept for ever
   * @return what is forgotten
   */
  def add(values: Iterator[String], generation: Long = 0L): Seq[String] = synchronized {
    val now = new Seen(seconds(), generation)
    values.foreach { value =>
      if (!known.contains(value)) {
        pending.add(value)
        stale = true
        known.add(value)
        if (generation > 0) seen.put(value, now)
      } else if (seen.remove(value) != null && generation > 0) seen.put(value, now)
    }
    if (generation > 0) forget(now) else Nil
  }

  private def forget(now: Seen): Seq[String] = {
    val old = Seq.newBuilder[String]
    val entries = seen.entrySet().iterator()
    var more = true
    while (more && entries.hasNext) {
      val entry = entries.next()
      more = entry.getValue.isBefore(now)
      if (more) {
        old += entry.getKey
        known.remove(entry.getKey)
        entries.remove()
        if (!pending.remove(entry.getKey)) forgotten += 1
      }
    }
    // So each that is forgotten pays for one that stays.
    if (forgotten > known.size) {
      val next = new Searched
      known.forEach(value => next.add(value, needles))
      searched = next
      forgotten = 0
    }
    old.result()
  }

  /** The number of registered values. */
  def size: Int = synchronized(known.size)

  /** Another number once there are other values to look for. */
  def version: Int = { search; made }

  def isEmpty: Boolean = !stale && made == 0

  def search: Search = {
    if (stale) synchronized {
      val each = pending.iterator()
      while (each.hasNext) {
        searched.add(each.next(), needles)
        each.remove()
        made += 1
      }
      stale = false
    }
    searched.search
  }
}

private object Registered {

  /** When, and in which generation, a value was answered last. */
  private final class Seen(second: Long, generation: Long) {
    def isBefore(now: Seen): Boolean =
      now.isAfter(second + Constants.ForgetSeconds, generation + Constants.ForgetGenerations)
    private def isAfter(last: Long, lastGeneration: Long): Boolean = second > last && generation > lastGeneration
  }

  private final class Searched {
    val search = new Search
    private val texts = new JHashSet[String]()

    /** The documents of several generations share most of their fields. */
    def add(value: String, needles: String => JCollection[Needle]): Unit = Forms.texts(value).forEach { text =>
      if (!texts.contains(text)) {
        needles(text).forEach(needle => search.add(needle))
        texts.add(text)
      }
    }
  }
}
