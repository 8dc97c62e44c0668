package io.sparkconfig.redaction.engine

/**
 * A hash table from windows to the patterns that are anchored there, and a filter of the grams in them.
 * @param gram    2, 3 or 4: so many characters are looked at; each window has `step` grams, the first of which is the
 *                window's key. 16: the whole window is the key
 * @param window  as long as the run of letters and digits that every pattern has
 * @param step    one of a window's grams begins at one of each `step` positions; 0: another filter has them
 * @param owners  the patterns
 * @param capacity above the highest number of a pattern
 * @param others  grams that the filter lets pass besides
 */
private[redaction] final class Windows(
    gram: Int,
    val window: Int,
    val step: Int,
    owners: Array[Int],
    capacity: Int,
    others: Array[Int] = Array.empty) {
  private val size = Integer.highestOneBit(math.max(16, owners.length * 2)) * 2
  private val heads = Array.fill(size)(-1)
  private val next = Array.fill(if (owners.isEmpty) 0 else capacity)(-1)
  private val keys = new Array[Long](next.length)
  val filter = new Filter(owners.length.toLong * step + others.length)
  val used: Boolean = owners.nonEmpty
  others.foreach(filter.add)

  def add(text: String, offset: Int, pattern: Int): Unit = {
    val bytes = text.substring(offset, offset + math.max(window, gram)).getBytes("ISO-8859-1").padTo(32, 0.toByte)
    var key = 0L
    if (gram == 16) {
      key = Windows.hash(Bytes.long(bytes, 0), Bytes.long(bytes, 8))
      filter.addHash((key >>> 32).toInt)
    } else {
      def at(j: Int) = if (gram == 2) Bytes.short(bytes, j) else Bytes.int(bytes, j)
      (0 until step).foreach(j => filter.add(at(j)))
      key = if (gram == 3) at(0) & 0xffffffL else at(0).toLong
    }
    keys(pattern) = key
    next(pattern) = heads(head(key))
    heads(head(key)) = pattern
  }

  private def head(key: Long): Int = (((key ^ (key >>> 32)) * Windows.Mix) >>> 32).toInt & (size - 1)

  /** The first pattern whose window has this key, or -1. */
  def first(key: Long): Int = skip(heads(head(key)), key)

  /** The next pattern with the same window as pattern `i`, or -1. */
  def following(i: Int): Int = skip(next(i), keys(i))

  private def skip(from: Int, key: Long): Int = {
    var i = from
    while (i >= 0 && keys(i) != key) i = next(i)
    i
  }
}

private[redaction] object Windows {
  private final val Mix = 0x9e3779b97f4a7c15L
  private final val Mix2 = 0xd1b54a32d192ed03L

  /** Of 16 characters. */
  def hash(eight: Long, more: Long): Long = eight * Mix + more * Mix2
}
