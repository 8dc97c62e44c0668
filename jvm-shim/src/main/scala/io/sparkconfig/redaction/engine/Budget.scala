package io.sparkconfig.redaction.engine

/** Thrown when a text would cost more than linear time; its sink shows a notice instead of the text. */
private[redaction] final class ScanOverload
  extends RuntimeException("redaction gave up on a hostile text", null, false, false)

/** The work that one scan may do, in character steps; keeps hostile texts linear. */
private[redaction] final class Budget(private var left: Long) {
  def spend(steps: Int): Unit = {
    left -= steps
    if (left < 0) throw new ScanOverload
  }
}

/** A small set of text positions. It is capped: beyond `Positions.Cap` readings, more add nothing but work. */
private[redaction] final class Positions {
  private val items = new Array[Int](Positions.Cap)
  private var count = 0
  def size: Int = count
  def apply(i: Int): Int = items(i)
  def isEmpty: Boolean = count == 0
  def clear(): Unit = count = 0
  def contains(p: Int): Boolean = {
    var i = 0
    while (i < count) { if (items(i) == p) return true; i += 1 }
    false
  }
  def add(p: Int): Unit = if (count < Positions.Cap && !contains(p)) { items(count) = p; count += 1 }
  def max: Int = { var m = -1; var i = 0; while (i < count) { if (items(i) > m) m = items(i); i += 1 }; m }
  def min: Int = { var m = Int.MaxValue; var i = 0; while (i < count) { if (items(i) < m) m = items(i); i += 1 }; m }
}

private[redaction] object Positions {
  val Cap = 48
}
