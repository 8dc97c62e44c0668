package io.sparkconfig.redaction.engine

/**
 * Chooses by which run of letters and digits each pattern is found: as long a one as it has, unless many patterns would
 * share it.
 */
private[redaction] final class Anchors(patterns: Array[Pattern]) {
  import Anchors._

  /** Of each pattern the length of its longest run, at most [[Long]]. */
  private val runs = patterns.map(p => longestRun(p.text))

  /** Of each pattern [[Long]], [[Short]], [[Brief]], [[Pair]] or [[None]]. */
  private val kinds = {
    val least = if (runs.count(run => run == Short || run == Brief) <= MostBriefs) Brief else Short
    runs.map(run =>
      if (run >= Long) Long else if (run > Short) Short else if (run >= least) least else run / Pair * Pair)
  }
  moveAlike()
  if (patterns.length <= MostInOnePass && kinds.exists(kind => kind == Short || kind == Brief)) mergePasses()

  /** Values that differ in numbers alone, `customer-passphrases-00042`, share every long window: not the short. */
  private def moveAlike(): Unit = {
    val alike = crowded(of(Long), Long)
    if (alike.nonEmpty) {
      val still = crowded(alike, Short).toSet
      alike.foreach(i => if (!still(i)) kinds(i) = Short)
    }
    crowded(of(Pair), Pair).foreach(kinds(_) = None)
  }

  /** Over a text that is passed for short windows anyway, a few longer ones need no pass of their own. */
  private def mergePasses(): Unit = {
    val more = of(Long)
    val still = crowded(more ++ of(Short), Short).toSet
    more.foreach(i => if (!still(i)) kinds(i) = Short)
  }

  /** The numbers of the patterns of a kind. */
  def of(kind: Int): Array[Int] = patterns.indices.filter(kinds(_) == kind).toArray

  /**
   * How long windows of a kind may be for all patterns to have them: the longer, the fewer positions a scan looks at.
   * As short as possible where many patterns would share a longer one.
   */
  def window(kind: Int): Int = {
    val own = of(kind)
    val longest = own.foldLeft(Long)((least, i) => math.min(least, runs(i)))
    if (crowded(own, longest).isEmpty) longest else kind
  }

  /** The offset of each pattern's window of this length that the fewest others of the kinds in `lengths` share. */
  def offsets(lengths: Map[Int, Int]): Array[Int] = {
    val shared = new Array[Int](Shares)
    patterns.indices.foreach(i => lengths.get(kinds(i)).foreach(countWindows(patterns(i).text, _, shared)))
    patterns.indices.map(i => lengths.get(kinds(i)).fold(0)(rarest(patterns(i).text, _, shared))).toArray
  }

  /** Those that share each of their windows with many others. */
  private def crowded(own: Array[Int], window: Int): Array[Int] =
    if (own.length <= Crowd) Array.empty
    else {
      val shared = new Array[Int](Shares)
      own.foreach(i => countWindows(patterns(i).text, window, shared))
      // Different windows share slots too.
      val limit = Crowd + (4 * shared.foldLeft(0L)(_ + _) / Shares).toInt
      own.filter { i =>
        val text = patterns(i).text
        var fewest = Int.MaxValue
        windows(text, window)(o => fewest = math.min(fewest, shared(slot(text, o, window))))
        fewest > limit
      }
    }
}

private[redaction] object Anchors {

  /** The windows of the kinds, in letters and digits; those between [[Short]] and [[Long]] count as short. */
  final val Long = 16
  final val Short = 4

  /** Of few patterns runs of three or four, so that the short windows of the others may be longer. */
  final val Brief = 3
  final val Pair = 2
  final val None = 0
  private final val Shares = 1 << 18
  private final val Mix = 0x9e3779b97f4a7c15L

  private final val MostInOnePass = 512
  private final val MostBriefs = 32

  /** As many patterns with one window are checked one by one wherever it is found. */
  private final val Crowd = 64

  /** The length of the longest run of letters and digits, at most [[Long]]. */
  private def longestRun(text: String): Int = {
    var longest = 0
    var run = 0
    var i = 0
    while (i < text.length && longest < Long) {
      run = if (Readings.isAlnum(text.charAt(i))) run + 1 else 0
      longest = math.max(longest, run)
      i += 1
    }
    longest
  }

  /** Calls `visit` with the offset of every window of letters and digits in the first 512 characters that have one. */
  private def windows(text: String, length: Int)(visit: Int => Unit): Unit = {
    var run = 0
    var seen = 0
    var i = 0
    while (i < text.length && seen < 512) {
      run = if (Readings.isAlnum(text.charAt(i))) run + 1 else 0
      if (run >= length) { visit(i - length + 1); seen += 1 }
      i += 1
    }
  }

  private def slot(text: String, offset: Int, length: Int): Int = {
    var h = 0L
    var i = offset
    while (i < offset + length) { h = h * 131 + text.charAt(i); i += 1 }
    ((h * Mix) >>> 46).toInt
  }

  private def countWindows(text: String, length: Int, shared: Array[Int]): Unit =
    windows(text, length)(o => shared(slot(text, o, length)) += 1)

  private def rarest(text: String, length: Int, shared: Array[Int]): Int = {
    var best = -1
    var lowest = Int.MaxValue
    windows(text, length) { o =>
      // Words and numbers are common in logs: prefer a mix of cases and digits.
      var kinds = 0
      var i = o
      while (i < o + length) {
        val c = text.charAt(i)
        kinds |= (if (c >= 'a') 1 else if (c >= 'A') 2 else 4)
        i += 1
      }
      val cost = math.min(shared(slot(text, o, length)), 1 << 24) * 4 + (3 - Integer.bitCount(kinds))
      if (cost < lowest) { lowest = cost; best = o }
    }
    best
  }
}
