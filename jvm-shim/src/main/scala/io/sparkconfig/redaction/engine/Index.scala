package io.sparkconfig.redaction.engine

/**
 * Finds needles in one pass over a text. Each has a window of letters and digits, which no writer escapes by itself:
 *  - long (16 characters), as most encodings have one: texts have few runs that are as long. Whether there is one is
 *    asked at every ninth position only, and each window of such a run is looked for;
 *  - short (4 to 15 characters, the same for all): their 4-grams are in a filter that is asked at every position, or at
 *    every twelfth at best; a few needles with long windows are found in the same pass;
 *  - pairs of letters, at every position.
 * A needle without any has a short window of anything, or is looked for by itself. [[Lists]] are found otherwise.
 */
private[redaction] final class Index {
  import Index._

  @volatile private var tables = new Tables(
    new Array[Needle](16),
    0,
    new Windows(Long, 16),
    new Windows(Long - 1, 16),
    new Windows(Pair, 16),
    Nil)
  private val lists = new Lists

  /** Whether there are needles whose letters do not tell that they may stand in a text with escapes in them. */
  @volatile var hasBare = false

  def add(needle: Needle): Unit = if (needle.kind == Needle.Listed) lists.add(needle)
  else synchronized {
    val now = tables
    val number = now.count
    val needles = if (number < now.needles.length) now.needles else java.util.Arrays.copyOf(now.needles, 2 * number)
    needles(number) = needle
    val next = new Tables(needles, number + 1, now.long, now.short, now.pairs, now.tiny)
    place(next, needle.text, number)
    tables = next
  }

  private def place(next: Tables, text: String, number: Int): Unit = {
    val run = longestRun(text)
    val (offset, crowd) = if (run >= Long) next.long.rarest(text) else (-1, Crowd)
    val few = number < Few
    if (offset >= 0 && crowd < Crowd && !(few && next.short.used))
      next.long = next.long.added(text, offset, number, next.needles)
    else if (run >= Short || run < Pair && text.length >= Short) {
      val most = if (run >= Short) run else text.length
      if (most < next.short.width) next.short = next.short.narrowed(most, next.needles)
      next.short = next.short.added(text, next.short.rarest(text, anything = run < Short)._1, number, next.needles)
      if (few && next.long.used) {
        next.short = next.long.movedTo(next.short, next.needles)
        next.long = new Windows(Long, 16)
      }
    } else if (run >= Pair) next.pairs = next.pairs.added(text, next.pairs.rarest(text)._1, number, next.needles)
    else next.tiny ::= next.needles(number)
    if (run < Pair) hasBare = true
  }

  /** @param signs learns what else is to be searched; null: it is known */
  def scan(scan: Scan, signs: Signs): Unit = {
    val now = tables
    val part = Part.mine
    var base = 0
    while (base < scan.text.length) {
      part.copy(scan.text, base)
      if (signs != null) signs.check(part)
      if (now.long.used) scanLong(now, part, scan)
      if (now.short.used) scanShort(now, part, scan)
      if (now.pairs.used) scanPairs(now, part, scan)
      if (lists.used) lists.scan(part, scan)
      base += Bytes.Chunk
    }
    now.tiny.foreach { needle =>
      var at = scan.text.indexOf(needle.text)
      while (at >= 0) { scan.matched(needle, at); at = scan.text.indexOf(needle.text, at + 1) }
    }
  }

  private def scanLong(now: Tables, part: Part, scan: Scan): Unit = {
    val bytes = part.bytes
    val last = part.limit - 8
    // The margins too: a run may begin or end there.
    var p = Bytes.Lead
    while (p <= last) {
      if (Bytes.others(Bytes.long(bytes, p)) == 0L) p = scanRun(now, part, scan, p) + 1
      else p += LongStep
    }
  }

  /** Looks at each window of the run of letters and digits around the eight at `p`; returns its end. */
  private def scanRun(now: Tables, part: Part, scan: Scan, p: Int): Int = {
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
    val last = until - Long
    var w = from
    while (w <= last) {
      val key = now.long.key(bytes, w)
      if (now.long.filter.mayHoldHash((key >>> 32).toInt)) look(now, now.long, key, w + part.shift, scan)
      w += 1
    }
    until
  }

  private def scanShort(now: Tables, part: Part, scan: Scan): Unit = {
    val bits = now.short.filter.bits
    val shift = now.short.filter.shift
    val bytes = part.bytes
    val step = now.short.grams
    // Whether one of four is in the filter costs one branch.
    val last = part.end - 3 * step
    var p = part.begin
    while (p < last) {
      val held = Filter.bit(bits, shift, Bytes.int(bytes, p)) |
        Filter.bit(bits, shift, Bytes.int(bytes, p + step)) |
        Filter.bit(bits, shift, Bytes.int(bytes, p + 2 * step)) |
        Filter.bit(bits, shift, Bytes.int(bytes, p + 3 * step))
      if ((held & 1L) != 0L) lookCloser(now, part, scan, p, p + 4 * step)
      p += 4 * step
    }
    lookCloser(now, part, scan, p, part.end)
  }

  private def lookCloser(now: Tables, part: Part, scan: Scan, from: Int, until: Int): Unit = {
    val step = now.short.grams
    var p = from
    while (p < until) {
      if (now.short.filter.mayHold(Bytes.int(part.bytes, p))) {
        var w = p
        while (w > p - step && w >= Bytes.Lead) {
          look(now, now.short, now.short.key(part.bytes, w), w + part.shift, scan)
          w -= 1
        }
      }
      p += step
    }
  }

  private def scanPairs(now: Tables, part: Part, scan: Scan): Unit = {
    var p = part.begin
    while (p < part.end) {
      val key = now.pairs.key(part.bytes, p)
      if (now.pairs.filter.mayHold(key.toInt)) look(now, now.pairs, key, p + part.shift, scan)
      p += 1
    }
  }

  private def look(now: Tables, windows: Windows, key: Long, at: Int, scan: Scan): Unit = {
    var entry = windows.last(key)
    while (entry != 0) {
      val number = windows.number(entry)
      // Those that are added meanwhile are not known here.
      if (number < now.count) scan.window(now.needles(number), windows.offset(entry), windows.width, at)
      entry = windows.before(entry)
    }
  }
}

private[redaction] object Index {

  /** The windows of the kinds, in letters and digits. */
  final val Long = 16
  private final val Short = 4
  private final val Pair = 2

  /** As many needles with one long window get another, shorter one. */
  private final val Crowd = 16

  /** So many needles are found in one pass. */
  private final val Few = 64

  /** Of eight characters at every such position some lie in a long window as a whole. */
  private final val LongStep = Long - 8 + 1

  /** What one search sees: all needles that were added before it began. */
  private final class Tables(
      val needles: Array[Needle],
      val count: Int,
      var long: Windows,
      var short: Windows,
      var pairs: Windows,
      var tiny: List[Needle])

  /** The length of the longest run of letters and digits, at most [[Long]]. */
  private def longestRun(text: String): Int = {
    var longest = 0
    var run = 0
    var i = 0
    while (i < text.length && longest < Long) {
      run = if (Needle.isAlnum(text.charAt(i))) run + 1 else 0
      longest = math.max(longest, run)
      i += 1
    }
    longest
  }
}
