package io.sparkconfig.redaction.engine

/**
 * An immutable index over patterns that finds, in one pass over a text, the places where one of them may stand.
 *
 * Every pattern is anchored by a window of ASCII letters and digits, which no encoder rewrites, see [[Anchors]]:
 *  - long (16 characters), as nearly all encodings have one: texts have few runs that are as long. Whether there is one
 *    is asked at every ninth position only, and each window of such a run is looked for in a filter;
 *  - short (4 to 15 characters): their 4-grams are in a filter that is asked at every position to every 12th;
 *  - brief (3 characters, of few patterns): the same pass finds them, with any character before or behind;
 *  - pairs (2 or 3 characters): the same with the two characters themselves, at every position;
 *  - none: a small trie, entered wherever the first character, or a character that begins an escape, stands.
 * Few patterns are found in one pass. Of a pattern's windows the one is taken that the fewest other patterns share.
 */
private[redaction] final class Index(val patterns: Array[Pattern]) {
  import Index._

  private val anchors = new Anchors(patterns)
  private val shortWindow = anchors.window(Anchors.Short)
  private val offsets = anchors.offsets(Map(
    Anchors.Long -> LongWindow,
    Anchors.Short -> shortWindow,
    Anchors.Brief -> Anchors.Brief,
    Anchors.Pair -> Anchors.Pair))
  private val longs = windows(LongWindow, Anchors.Long, LongWindow, 1)
  private val briefs = windows(Anchors.Brief, Anchors.Brief, Anchors.Brief, 0)
  private val shorts = {
    val ofBriefs = anchors.of(Anchors.Brief).flatMap(i => grams(patterns(i).text, offsets(i)))
    val step = shortWindow - Gram + 1
    windows(Gram, Anchors.Short, shortWindow, if (ofBriefs.isEmpty) step else math.min(step, BriefStep), ofBriefs)
  }
  private val pairs = windows(Anchors.Pair, Anchors.Pair, Anchors.Pair, 1)
  private val pairBits = new PairBits(anchors.of(Anchors.Pair).map(i => patterns(i).text.substring(offsets(i))))
  private val trie = new Trie

  locally {
    val all = Seq(Anchors.Long -> longs, Anchors.Short -> shorts, Anchors.Brief -> briefs, Anchors.Pair -> pairs)
    all.foreach { case (kind, windows) =>
      anchors.of(kind).foreach(i => windows.add(patterns(i).text, offsets(i), i))
    }
    anchors.of(Anchors.None).foreach(i => trie.add(patterns(i).text, i))
  }

  private def windows(gram: Int, kind: Int, window: Int, step: Int, others: Array[Int] = Array.empty): Windows =
    new Windows(gram, window, step, anchors.of(kind), patterns.length, others)

  /** Searches a chunk of a text. */
  def scan(part: Part): Unit = {
    if (longs.used) scanLong(part)
    if (shorts.used || briefs.used) scanShort(part)
    if (pairs.used) scanPairs(part)
    if (trie.used) scanStarts(part)
  }

  private def scanLong(part: Part): Unit = {
    val bytes = part.bytes
    val last = part.limit - 8
    // The margins too: a run may begin or end there.
    var p = Bytes.Lead
    while (p <= last) {
      if (Bytes.others(Bytes.long(bytes, p)) == 0L) p = scanRun(part, p) + 1
      else p += LongStep
    }
  }

  /** Looks at each window of the run of letters and digits around the eight at `p`; returns its end. */
  private def scanRun(part: Part, p: Int): Int = {
    val bytes = part.bytes
    var from = p
    var others = 0L
    while (others == 0L && from > Bytes.Lead) {
      others = Bytes.others(Bytes.long(bytes, from - 8))
      from -= (if (others == 0L) 8 else java.lang.Long.numberOfLeadingZeros(others) >>> 3)
    }
    others = 0L
    var until = p + 8
    while (others == 0L && until < part.limit) {
      others = Bytes.others(Bytes.long(bytes, until))
      until += (if (others == 0L) 8 else java.lang.Long.numberOfTrailingZeros(others) >>> 3)
    }
    val last = until - LongWindow
    var w = from
    while (w <= last) {
      val key = Windows.hash(Bytes.long(bytes, w), Bytes.long(bytes, w + 8))
      if (longs.filter.mayHoldHash((key >>> 32).toInt)) verify(longs, key, part, w, LongWindow)
      w += 1
    }
    until
  }

  private def scanShort(part: Part): Unit = {
    val bits = shorts.filter.bits
    val shift = shorts.filter.shift
    val bytes = part.bytes
    val step = shorts.step
    // Whether one of four is in the filter costs one branch.
    val last = part.end - 3 * step
    var p = part.begin
    while (p < last) {
      val held = Filter.bit(bits, shift, Bytes.int(bytes, p)) |
        Filter.bit(bits, shift, Bytes.int(bytes, p + step)) |
        Filter.bit(bits, shift, Bytes.int(bytes, p + 2 * step)) |
        Filter.bit(bits, shift, Bytes.int(bytes, p + 3 * step))
      if ((held & 1L) != 0L) lookCloser(part, p, p + 4 * step)
      p += 4 * step
    }
    lookCloser(part, p, part.end)
  }

  /** Looks at each gram at a step from `from` until `until`. */
  private def lookCloser(part: Part, from: Int, until: Int): Unit = {
    val step = shorts.step
    var p = from
    while (p < until) {
      if (shorts.filter.mayHold(Bytes.int(part.bytes, p))) {
        if (shorts.used) {
          var j = 0
          while (j < step) {
            val w = p - j
            if (w >= Bytes.Lead) verify(shorts, Bytes.int(part.bytes, w).toLong, part, w, Gram)
            j += 1
          }
        }
        if (briefs.used) {
          val eight = Bytes.long(part.bytes, p)
          verify(briefs, eight & BriefMask, part, p, Anchors.Brief)
          verify(briefs, (eight >>> 8) & BriefMask, part, p + 1, Anchors.Brief)
        }
      }
      p += step
    }
  }

  private def scanPairs(part: Part): Unit = {
    val bits = pairBits
    val bytes = part.bytes
    // Zeros are behind the text.
    var p = part.begin
    while (p < part.end) {
      val eight = Bytes.long(bytes, p)
      val held = bits.at(eight) | bits.at(eight >>> 8) | bits.at(eight >>> 16) | bits.at(eight >>> 24) |
        bits.at(eight >>> 32) | bits.at(eight >>> 40)
      if ((held & 1L) != 0L) verifyPairs(part, p, math.min(p + 6, part.end))
      p += 6
    }
  }

  private def verifyPairs(part: Part, from: Int, until: Int): Unit = {
    var p = from
    while (p < until) {
      val pair = Bytes.short(part.bytes, p)
      if ((pairBits.at(pair.toLong) & 1L) != 0L) verify(pairs, pair.toLong, part, p, Anchors.Pair)
      p += 1
    }
  }

  private def scanStarts(part: Part): Unit = {
    val bytes = part.bytes
    val starts = trie.starts
    var p = part.begin
    while (p < part.end) {
      if (starts(bytes(p) & 0xff) && trie.mayStart(part.search.text.charAt(p + part.shift)))
        walk(part.search, p + part.shift)
      p += 1
    }
  }

  private def walk(search: Search, p: Int): Unit = trie.walk(search.readings, p) { i =>
    val end = search.readings.matchRight(patterns(i).text, 0, p)
    if (end >= 0) search.found.add(p, end)
  }

  private def verify(windows: Windows, key: Long, part: Part, w: Int, length: Int): Unit = {
    var i = windows.first(key)
    while (i >= 0) {
      verify(part.search, i, w + part.shift, length)
      i = windows.following(i)
    }
  }

  /** Checks the whole pattern around a window that was found at `at`. */
  private def verify(search: Search, i: Int, at: Int, window: Int): Unit = {
    val text = search.text
    val done = search.done(this)
    if (done.covers(i, at)) return
    val pattern = patterns(i)
    if (search.answer && pattern.block) return
    val offset = offsets(i)
    if (at + window > text.length || !text.regionMatches(at, pattern.text, offset, window)) return
    var end = search.readings.matchRight(pattern.text, offset + window, at + window)
    if (end < 0) return
    var start = search.readings.matchLeft(pattern.text, offset, at)
    if (start < 0) return
    if (pattern.alphabet != Pattern.Plain) {
      // The characters at the borders hold some bits of the value too.
      if (start > 0 && Pattern.inAlphabet(text.charAt(start - 1), pattern.alphabet)) start -= 1
      if (pattern.rest > 0) end = rest(search, i, start, end)
      else if (end < text.length && Pattern.inAlphabet(text.charAt(end), pattern.alphabet)) end += 1
    }
    done.add(i, at + shift(pattern.text))
    search.found.add(start, end)
  }

  /** Where the rest of an encoding ends whose beginning was found until `core`. */
  private def rest(search: Search, i: Int, start: Int, core: Int): Int = {
    val done = search.done(this)
    val pattern = patterns(i)
    // Where two matches share what follows, it is looked at once.
    val last = done.last(i)
    val found =
      if (core <= last) search.readings.run(pattern.alphabet, last, core - done.core(i))
      else search.readings.run(pattern.alphabet, core, pattern.rest + 1)
    val end = (found >>> 32).toInt
    done.reach(i, core, end)
    if (found.toInt > 0 && search.readings.isCut(end)) search.unfinished = math.min(search.unfinished, start)
    end
  }
}

private[redaction] object Index {
  private final val Gram = 4
  private final val LongWindow = Anchors.Long
  private final val BriefMask = 0xffffffL

  /** At each such place there is a gram of a brief window. */
  private final val BriefStep = 2

  /** Of eight characters at every such position some lie in a long window as a whole. */
  private final val LongStep = LongWindow - 8 + 1

  /** The grams of which one is at each other place around a brief window: it, before or behind any character. */
  private def grams(text: String, offset: Int): Array[Int] = {
    val window = (0 until Anchors.Brief).map(j => text.charAt(offset + j) << 8 * j).sum
    (0 to 0xff).toArray.flatMap(any => Array(any | window << 8, window | any << 24))
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
}
