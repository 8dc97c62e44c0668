package io.sparkconfig.redaction.engine

/**
 * An immutable index over patterns that finds, in one pass over a text, the places where one of them may stand.
 *
 * Every pattern is anchored by a window of ASCII letters and digits, which no encoder rewrites:
 *  - long (9 to 21 characters): its 6-grams go into a bit filter that is asked at every fourth to 16th position only,
 *    so the scan costs a fraction of a nanosecond a character whatever the number of values;
 *  - short (4 to 8 characters): the same with 4-grams, at every position to every fifth;
 *  - pairs (2 or 3 characters): the same with the two characters themselves, at every position;
 *  - none: a small trie, entered wherever the first character, or a character that begins an escape, stands.
 * Few patterns are found in one pass, with windows as short as the shortest of them need. Of a pattern's windows the
 * one is taken that the fewest other patterns share.
 */
private[redaction] final class Index(val patterns: Array[Pattern]) {
  import Index._

  /** Whether these are parts of values, which only errors quote: they never share an index with others. */
  val ofFragments: Boolean = patterns.nonEmpty && patterns(0).fragment

  private val runs = patterns.map(p => longestRun(p.text))
  private val offsets = new Array[Int](patterns.length)
  private val kinds =
    runs.map(run => if (run >= LongKey) LongKey else if (run >= ShortKey) ShortKey else run / PairKey * PairKey)
  moveAlike()
  if (patterns.length <= MostInOnePass) mergePasses()
  private val longs = windows(6, LongKey)
  private val shorts = windows(4, ShortKey)
  private val pairs = new Windows(PairKey, PairKey, of(PairKey).length, patterns.length)
  private val trie = new Trie

  locally {
    val shared = new Array[Int](Shares)
    var i = 0
    while (i < patterns.length) {
      val anchors = anchorsOf(i)
      if (anchors != null) countWindows(patterns(i).text, anchors.window, shared)
      i += 1
    }
    i = 0
    while (i < patterns.length) {
      val anchors = anchorsOf(i)
      if (anchors == null) trie.add(patterns(i).text, i)
      else {
        offsets(i) = rarest(patterns(i).text, anchors.window, shared)
        anchors.add(patterns(i).text, offsets(i), i)
      }
      i += 1
    }
  }

  /** Values that differ in numbers alone, `customer-passphrases-00042`, share every long window: not the short. */
  private def moveAlike(): Unit = {
    val alike = crowded(of(LongKey), LongKey)
    if (alike.nonEmpty) {
      val still = crowded(alike, ShortKey).toSet
      alike.foreach(i => if (!still(i)) kinds(i) = ShortKey)
    }
    crowded(of(PairKey), PairKey).foreach(kinds(_) = 0)
  }

  /**
   * Over a text that is passed for short windows anyway, longer ones cost no pass of their own: while they are few, and
   * so the filter stays in a cache near the processor.
   */
  private def mergePasses(): Unit = {
    val (few, more) = (of(ShortKey), of(LongKey))
    if (few.nonEmpty) {
      val still = crowded(more ++ few, ShortKey).toSet
      more.foreach(i => if (!still(i)) kinds(i) = ShortKey)
    }
  }

  private def of(kind: Int): Seq[Int] = patterns.indices.filter(kinds(_) == kind)

  /**
   * Windows as long as the runs of all these patterns allow: the longer, the fewer positions the scan looks at. It is
   * as short as a key where many patterns would share a longer one.
   */
  private def windows(gram: Int, key: Int): Windows = {
    val own = of(key)
    val longest = own.foldLeft(LongestWindow)((least, i) => math.min(least, runs(i)))
    new Windows(gram, if (crowded(own, longest).isEmpty) longest else key, own.length, patterns.length)
  }

  /** Those that share each of their windows with many others. */
  private def crowded(own: Seq[Int], window: Int): Seq[Int] =
    if (own.length <= Crowd) Nil
    else {
      val shared = new Array[Int](Shares)
      own.foreach(i => countWindows(patterns(i).text, window, shared))
      // Different windows share slots too.
      val limit = Crowd + (4 * shared.foldLeft(0L)(_ + _) / Shares).toInt
      own.filter { i =>
        val text = patterns(i).text
        var fewest = Int.MaxValue
        Index.windows(text, window)(o => fewest = math.min(fewest, shared(slot(text, o, window))))
        fewest > limit
      }
    }

  private def anchorsOf(pattern: Int): Windows =
    kinds(pattern) match {
      case LongKey => longs
      case ShortKey => shorts
      case PairKey => pairs
      case _ => null
    }

  /**
   * @param signs learns what [[Views]] has to look for; null: somebody else tells it
   * @param bytes this thread's buffer
   */
  def scan(text: String, budget: Budget, found: Intervals, signs: Signs, bytes: Array[Byte]): Unit = {
    val readings = new Readings(text, budget)
    val done = new Done
    if (longs.used || shorts.used || pairs.used || signs != null) {
      var base = 0
      while (base < text.length) {
        val from = math.max(0, base - Bytes.Margin)
        val until = math.min(text.length, base + Bytes.Chunk + Bytes.Margin)
        Bytes.copy(text, from, until, bytes)
        val end = math.min(text.length, base + Bytes.Chunk)
        if (signs != null) signs.look(bytes, base - from, end - from)
        if (longs.used) scanLong(text, bytes, from, base, end, readings, done, found)
        if (shorts.used) scanShort(text, bytes, from, base, end, readings, done, found)
        if (pairs.used) scanPairs(text, bytes, from, base, end, readings, done, found)
        base += Bytes.Chunk
      }
    }
    if (trie.used) scanTrie(text, readings, found)
  }

  private def scanLong(
      text: String,
      bytes: Array[Byte],
      from: Int,
      base: Int,
      end: Int,
      readings: Readings,
      done: Done,
      found: Intervals): Unit = {
    val bits = longs.bits
    val shift = longs.shift
    val step = longs.step
    var p = base - from
    val last = end - from
    while (p < last) {
      val h = ((Bytes.long(bytes, p) & Gram6) * Mix) >>> shift
      if ((bits((h >>> 6).toInt) & (1L << h)) != 0L) {
        var j = 0
        while (j < step) {
          val w = p - j
          if (w >= 0) {
            var i = longs.first(hash9(Bytes.long(bytes, w), bytes(w + 8)))
            while (i >= 0) { verify(text, i, w + from, LongKey, readings, done, found); i = longs.following(i) }
          }
          j += 1
        }
      }
      p += step
    }
  }

  private def scanShort(
      text: String,
      bytes: Array[Byte],
      from: Int,
      base: Int,
      end: Int,
      readings: Readings,
      done: Done,
      found: Intervals): Unit = {
    val bits = shorts.bits
    val shift = shorts.shift
    val step = shorts.step
    var p = base - from
    val last = end - from
    while (p < last) {
      val h = ((Bytes.int(bytes, p) & Gram4) * Mix) >>> shift
      if ((bits((h >>> 6).toInt) & (1L << h)) != 0L) {
        var j = 0
        while (j < step) {
          val w = p - j
          if (w >= 0) {
            var i = shorts.first((Bytes.int(bytes, w) & Gram4) * Mix)
            while (i >= 0) { verify(text, i, w + from, ShortKey, readings, done, found); i = shorts.following(i) }
          }
          j += 1
        }
      }
      p += step
    }
  }

  private def scanPairs(
      text: String,
      bytes: Array[Byte],
      from: Int,
      base: Int,
      end: Int,
      readings: Readings,
      done: Done,
      found: Intervals): Unit = {
    val bits = pairs.bits
    val shift = pairs.shift
    var p = base - from
    val last = end - from
    while (p < last) {
      val key = (Bytes.short(bytes, p) & Gram2) * Mix
      val h = key >>> shift
      if ((bits((h >>> 6).toInt) & (1L << h)) != 0L) {
        var i = pairs.first(key)
        while (i >= 0) { verify(text, i, p + from, PairKey, readings, done, found); i = pairs.following(i) }
      }
      p += 1
    }
  }

  private def scanTrie(text: String, readings: Readings, found: Intervals): Unit = {
    var p = 0
    while (p < text.length) {
      val c = text.charAt(p)
      if (trie.mayStart(c))
        trie.walk(readings, p) { i =>
          val end = readings.matchRight(patterns(i).text, 0, p)
          if (end >= 0) found.add(p, end)
        }
      p += 1
    }
  }

  /** Checks the whole pattern around a window that was found at `at`. */
  private def verify(
      text: String,
      i: Int,
      at: Int,
      window: Int,
      readings: Readings,
      done: Done,
      found: Intervals): Unit = {
    if (done.covers(i, at)) return
    val pattern = patterns(i)
    val offset = offsets(i)
    if (at + window > text.length || !text.regionMatches(at, pattern.text, offset, window)) return
    var end = readings.matchRight(pattern.text, offset + window, at + window)
    if (end < 0) return
    var start = readings.matchLeft(pattern.text, offset, at)
    if (start < 0) return
    if (pattern.alphabet != Pattern.Plain) {
      // The characters at the borders hold some bits of the value too.
      if (start > 0 && Pattern.inAlphabet(text.charAt(start - 1), pattern.alphabet)) start -= 1
      if (end < text.length && Pattern.inAlphabet(text.charAt(end), pattern.alphabet)) end += 1
      if (pattern.open) while (end < text.length && Pattern.inAlphabet(text.charAt(end), pattern.alphabet)) end += 1
    }
    done.add(i, if (pattern.open) end else at + shift(pattern.text))
    found.add(start, end)
  }
}

private[redaction] object Index {
  private val LongKey = 9
  private val ShortKey = 4
  private val PairKey = 2
  private val LongestWindow = 21
  private val Shares = 1 << 18

  private val MostInOnePass = 8192

  /** As many patterns with one window are checked one by one wherever it is found. */
  private val Crowd = 64
  val Gram6 = 0xffffffffffffL
  val Gram4 = 0xffffffffL
  val Gram2 = 0xffffL
  val Mix = 0x9e3779b97f4a7c15L

  def hash9(eight: Long, ninth: Byte): Long = {
    val h = (eight ^ (ninth.toLong << 3) ^ ninth) * Mix
    (h ^ (h >>> 29)) * Mix
  }

  /** The length of the longest run of letters and digits, at most [[LongestWindow]]. */
  private def longestRun(text: String): Int = {
    var longest = 0
    var run = 0
    var i = 0
    while (i < text.length && longest < LongestWindow) {
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

  /**
   * How far behind one match of `text` the next may begin: before its end if its end is its beginning too. A text that
   * repeats itself within its half counts as one that does not, which keeps the search linear.
   */
  private def shift(text: String): Int = {
    // The length of the longest end of each beginning that is a beginning of the whole.
    val borders = new Array[Int](text.length)
    var i = 1
    while (i < text.length) {
      var border = borders(i - 1)
      while (border > 0 && text.charAt(border) != text.charAt(i)) border = borders(border - 1)
      borders(i) = if (text.charAt(border) == text.charAt(i)) border + 1 else border
      i += 1
    }
    math.max(text.length - borders.last, (text.length + 1) / 2)
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

/** Before where no other match of each pattern begins; made only when there is one, since most texts have none. */
private[redaction] final class Done {
  private var owners: Array[Int] = _
  private var nexts: Array[Int] = _

  /** Whether `at` is in the last match of the pattern, where no other begins; a crowded slot may have forgotten it. */
  def covers(pattern: Int, at: Int): Boolean =
    owners != null && { val slot = pattern & 1023; owners(slot) == pattern + 1 && at < nexts(slot) }

  def add(pattern: Int, next: Int): Unit = {
    if (owners == null) { owners = new Array[Int](1024); nexts = new Array[Int](1024) }
    owners(pattern & 1023) = pattern + 1
    nexts(pattern & 1023) = next
  }
}
