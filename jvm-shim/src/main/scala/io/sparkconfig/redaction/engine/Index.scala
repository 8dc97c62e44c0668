package io.sparkconfig.redaction.engine

import java.util.concurrent.ConcurrentHashMap
import java.util.regex.Pattern

/**
 * Finds needles, of four characters and more, in one pass over a text. Each has a window:
 *  - a long one of 16 letters and digits, as most encodings have one: in runs that are as long, each window is looked
 *    for;
 *  - any other, of 4 to 15 characters, the same for all: their 4-grams are in a filter, asked at every eighth position,
 *    or more often for short needles.
 * A second pass, in texts with escapes only, tells whether a needle may stand there with escapes: it looks for short
 * windows of letters and digits, which no writer escapes by itself. [[Lists]] are found otherwise.
 */
private[redaction] final class Index {
  import Index._

  @volatile private var tables =
    new Tables(new Array[Needle](16), 0, new Windows(Long, 16), new Windows(Long - 1, 16), new Windows(Long - 1, 16))
  private val lists = new Lists

  /** The longest runs in needles without a window: they stand in whatever writes these, unless it hides letters. */
  private val bare = ConcurrentHashMap.newKeySet[String]()

  def add(needle: Needle): Unit = if (needle.kind == Needle.Listed) lists.add(needle)
  else synchronized {
    val now = tables
    val number = now.count
    val needles = if (number < now.needles.length) now.needles else java.util.Arrays.copyOf(now.needles, 2 * number)
    needles(number) = needle
    val next = new Tables(needles, number + 1, now.long, now.short, now.any)
    place(next, needle.text, number)
    tables = next
  }

  private def place(next: Tables, text: String, number: Int): Unit = {
    val run = ("" +: Others.split(text).toSeq).maxBy(_.length)
    val (offset, crowd) = if (run.length >= Long) next.long.rarest(text) else (-1, Crowd)
    if (offset >= 0 && crowd < Crowd) next.long = next.long.added(text, offset, number, next.needles)
    else {
      val isBare = run.length < Short
      val most = if (isBare) text.length else run.length
      if (most < next.short.width) next.short = next.short.narrowed(most, next.needles)
      next.short = next.short.added(text, next.short.rarest(text, anything = isBare)._1, number, next.needles)
      if (isBare) bare.add(run)
      if (text.length < next.any.width) next.any = next.any.narrowed(text.length, next.needles)
      next.any = next.any.added(text, next.any.rarest(text, anything = true)._1, number, next.needles)
    }
  }

  /** Whether a text may hold, with escapes, a needle that has no window of letters and digits. */
  def mayHoldBare(text: String): Boolean =
    !bare.isEmpty && (bare.size > MostBare || bare.stream.anyMatch(text.contains))

  def scan(scan: Scan): Unit = {
    val now = tables
    chunks(scan)(walk(now, _, scan))
    // Where nothing is escaped, needles can only stand as they are.
    if (scan.escapes && scan.form.before == null && now.short.used)
      chunks(scan)(scanShort(now, now.short, _, scan))
  }

  private def chunks(scan: Scan)(look: Part => Unit): Unit = {
    val part = Part.mine
    var base = 0
    while (base < scan.text.length) {
      part.copy(scan.text, base)
      look(part)
      base += Bytes.Chunk
    }
  }

  /** Looks at eight characters at once: of most texts that is all. */
  private def walk(now: Tables, part: Part, scan: Scan): Unit = {
    val bytes = part.bytes
    val bits = now.any.filter.bits
    val shift = now.any.filter.shift
    var escapes = 0L
    var noDots = -1L
    var run = 0
    var list = 0
    var p = part.begin
    while (p < part.end) {
      val eight = Bytes.long(bytes, p)
      escapes |= Bytes.escapes(eight)
      noDots &= Bytes.noDots(eight)
      if (Bytes.areAlnum(eight) && p >= run) run = scanRun(now, part, scan, p)
      if (Lists.others(eight) == 0L && p >= list) list = lists.scan(part, scan, p)
      if ((Filter.bit(bits, shift, eight.toInt) & 1L) != 0L) lookCloser(now, now.any, part, scan, p, Step)
      p += Step
    }
    scan.escapes ||= (escapes & Bytes.Highs) != 0L
    scan.dots ||= ((~noDots | escapes) & Bytes.Highs) != 0L
    if (now.any.grams < Step) scanShort(now, now.any, part, scan)
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

  private def scanShort(now: Tables, windows: Windows, part: Part, scan: Scan): Unit = {
    val bits = windows.filter.bits
    val shift = windows.filter.shift
    val bytes = part.bytes
    val step = windows.grams
    var p = part.begin
    // Whether one of four is in the filter costs one branch. What is behind the end may raise a false alarm.
    while (p < part.end) {
      val held = Filter.bit(bits, shift, Bytes.int(bytes, p)) |
        Filter.bit(bits, shift, Bytes.int(bytes, p + step)) |
        Filter.bit(bits, shift, Bytes.int(bytes, p + 2 * step)) |
        Filter.bit(bits, shift, Bytes.int(bytes, p + 3 * step))
      if ((held & 1L) != 0L)
        for (gram <- p until math.min(p + 4 * step, part.end) by step if windows.filter.mayHold(Bytes.int(bytes, gram)))
          lookCloser(now, windows, part, scan, gram, step)
      p += 4 * step
    }
  }

  /** Looks at the windows that have the gram at `p`, and none of `step` characters before. */
  private def lookCloser(now: Tables, windows: Windows, part: Part, scan: Scan, p: Int, step: Int): Unit = {
    var w = p
    while (w > p - step && w >= Bytes.Lead) {
      look(now, windows, windows.key(part.bytes, w), w + part.shift, scan)
      w -= 1
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

  /** As many needles with one long window get another, shorter one. */
  private final val Crowd = 16

  /** With more such runs nearly any text has one. */
  private final val MostBare = 16
  private val Others = Pattern.compile("[^A-Za-z0-9]+")

  /** Eight characters at every such position: some lie in a long window as a whole. */
  private final val Step = 8

  /** What one search sees: all needles that were added before it began. */
  private final class Tables(
      val needles: Array[Needle],
      val count: Int,
      var long: Windows,
      var short: Windows,
      var any: Windows)
}
