package io.sparkconfig.redaction.engine

/** Parts of a text, as half-open intervals of character positions; `settle` sorts and joins them. */
private[redaction] final class Intervals {
  // Shared by all: most texts hold nothing.
  private var packed = Array.emptyLongArray
  private var count = 0
  def size: Int = count
  def isEmpty: Boolean = count == 0
  def start(i: Int): Int = (packed(i) >>> 32).toInt
  def end(i: Int): Int = packed(i).toInt

  def add(start: Int, end: Int): Unit = if (end > start) {
    val last = count - 1
    // Of a value that repeats itself, one is found at each place.
    if (count > 0 && start >= this.start(last) && start < this.end(last)) {
      if (end > this.end(last)) packed(last) = (this.start(last).toLong << 32) | end
    } else {
      if (count == packed.length) packed = java.util.Arrays.copyOf(packed, math.max(4, count * 2))
      packed(count) = (start.toLong << 32) | end
      count += 1
    }
  }

  /** Those that are not within one of `kept`, which are in order. */
  def without(kept: Intervals): Intervals = {
    val rest = new Intervals
    var i = 0
    while (i < count) { if (!kept.hold(start(i), end(i))) rest.add(start(i), end(i)); i += 1 }
    rest
  }

  /** Whether it is within one of these, which are in order. */
  def hold(start: Int, end: Int): Boolean = {
    val found = java.util.Arrays.binarySearch(packed, 0, count, start.toLong << 32 | Int.MaxValue)
    val i = if (found >= 0) found else -found - 2
    i >= 0 && end <= this.end(i)
  }

  def settle(): Unit = if (count > 1) {
    java.util.Arrays.sort(packed, 0, count)
    var last = 0
    var i = 1
    while (i < count) {
      if (start(i) < end(last)) packed(last) = (start(last).toLong << 32) | math.max(end(last), end(i))
      else { last += 1; packed(last) = packed(i) }
      i += 1
    }
    count = last + 1
  }
}
