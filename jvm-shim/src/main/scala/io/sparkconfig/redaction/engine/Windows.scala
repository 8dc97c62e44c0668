package io.sparkconfig.redaction.engine

/**
 * A hash table from windows to the needles that have them, and a filter of the grams in them. Entries are never moved
 * or changed, so a search may go on while one is added; the table grows by a copy.
 * @param width of the windows, from 4 to 16
 */
private[redaction] final class Windows(val width: Int, capacity: Int) {
  import Windows._

  /**
   * How many of a window's 4-grams are in the filter: one of them begins at one of as many positions. Of windows of 16
   * the filter has the whole.
   */
  val grams: Int = if (width == Index.Long) 1 else width - Gram + 1
  val filter = new Filter(capacity.toLong / 2 * grams)
  private val keys = new Array[Long](capacity)

  /** By slot, the last entry with its key; zero: there is none. */
  private val lasts = new Array[Int](capacity)
  private val crowds = new Array[Int](capacity)

  /** By entry: the number of the needle, with the window's offset in its lower half, and the entry before. */
  private val entries = new Array[Long](capacity / 2 + 1)
  private val befores = new Array[Int](capacity / 2 + 1)
  private var count = 0
  private val mask = if (width % 8 == 0) -1L else (1L << 8 * (width % 8)) - 1

  def used: Boolean = count > 0

  def key(bytes: Array[Byte], at: Int): Long = {
    val eight = Bytes.long(bytes, at)
    if (width < 8) eight & mask
    else if (width == 8) eight
    else eight * Mix + (Bytes.long(bytes, at + 8) & mask) * Mix2
  }

  private def slot(key: Long): Int = {
    var s = (((key ^ (key >>> 32)) * Mix) >>> 32).toInt & (capacity - 1)
    while (lasts(s) != 0 && keys(s) != key) s = (s + 1) & (capacity - 1)
    s
  }

  /** The last entry with this key, zero if there is none; [[before]] yields the others. */
  def last(key: Long): Int = lasts(slot(key))
  def before(entry: Int): Int = befores(entry)
  def number(entry: Int): Int = (entries(entry) >>> 32).toInt
  def offset(entry: Int): Int = entries(entry).toInt

  /**
   * The window of a text that the fewest others have, and how many have it; -1: there is none.
   * @param anything whether signs may be in it
   */
  def rarest(text: String, anything: Boolean = false): (Int, Int) = {
    val bytes = Bytes.low(text.take(Looks))
    var best = -1
    var lowest = Int.MaxValue
    var run = 0
    var i = 0
    while (i < math.min(text.length, Looks) && lowest > 0) {
      run = if (anything || Needle.isAlnum(text.charAt(i))) run + 1 else 0
      if (run >= width) {
        val at = i - width + 1
        val found = slot(key(bytes, at))
        // Words and numbers are common in logs: a mix of cases and digits is not.
        val cost = 4 * (if (lasts(found) == 0) 0 else crowds(found)) + 3 - kinds(text, at, width)
        if (cost < lowest) { lowest = cost; best = at }
      }
      i += 1
    }
    (best, lowest / 4)
  }

  /** With one more; the same table if there is room. */
  def added(text: String, offset: Int, number: Int, needles: Array[Needle]): Windows = {
    val table = if (2 * (count + 1) > capacity) again(new Windows(width, 2 * capacity), needles) else this
    table.put(text, offset, number)
    table
  }

  /** The same for windows that are shorter. */
  def narrowed(shorter: Int, needles: Array[Needle]): Windows = again(new Windows(shorter, capacity), needles)

  private def again(table: Windows, needles: Array[Needle]): Windows = {
    (1 to count).foreach(entry => table.put(needles(number(entry)).text, offset(entry), number(entry)))
    table
  }

  private def put(text: String, offset: Int, number: Int): Unit = {
    val bytes = Bytes.low(text.substring(offset, offset + width))
    val k = key(bytes, 0)
    if (width == Index.Long) filter.addHash((k >>> 32).toInt)
    else (0 until grams).foreach(j => filter.add(Bytes.int(bytes, j)))
    val s = slot(k)
    val entry = count + 1
    entries(entry) = number.toLong << 32 | offset
    befores(entry) = lasts(s)
    keys(s) = k
    crowds(s) += 1
    lasts(s) = entry
    count = entry
  }
}

private[redaction] object Windows {
  private final val Mix = 0x9e3779b97f4a7c15L
  private final val Mix2 = 0xd1b54a32d192ed03L
  private final val Gram = 4

  /** A window is taken from so many first characters. */
  private final val Looks = 512

  private def kinds(text: String, offset: Int, width: Int): Int = {
    var kinds = 0
    var i = offset
    while (i < offset + width) {
      val c = text.charAt(i)
      kinds |= (if (c >= 'a') 1 else if (c >= 'A') 2 else 4)
      i += 1
    }
    Integer.bitCount(kinds)
  }
}
