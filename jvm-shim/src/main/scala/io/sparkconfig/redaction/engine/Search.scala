package io.sparkconfig.redaction.engine

/**
 * One text that is searched: what the search may cost, and what it finds. Most texts hold nothing and need little.
 * @param answer whether a client reads it: no blocks of long values are looked for
 */
private[redaction] final class Search(val text: String, val budget: Budget, val answer: Boolean = false) {
  private var places: Intervals = _
  private var reader: Readings = _
  private var matches: java.util.IdentityHashMap[Index, Done] = _
  private var lastIndex: Index = _
  private var lastDone: Done = _

  /** Where the first encoding begins that the end of the text cuts. */
  var unfinished: Int = Int.MaxValue

  def isEmpty: Boolean = places == null

  def found: Intervals = { if (places == null) places = new Intervals; places }

  def readings: Readings = { if (reader == null) reader = new Readings(text, budget); reader }

  /** Where the patterns of an index were found so far. */
  def done(index: Index): Done = {
    if (lastIndex ne index) {
      if (matches == null) matches = new java.util.IdentityHashMap[Index, Done]()
      lastIndex = index
      lastDone = matches.computeIfAbsent(index, _ => new Done)
    }
    lastDone
  }

  /**
   * Searches by all indexes.
   * @param part this thread's
   * @param signs learns what else is to be searched; null: nothing else is
   */
  def by(all: Array[Index], part: Part, signs: Signs = null): Unit = {
    part.search = this
    var base = 0
    while (base < text.length) {
      part.copy(text, base)
      if (signs != null) signs.check(part)
      var k = 0
      while (k < all.length) { all(k).scan(part); k += 1 }
      base += Bytes.Chunk
    }
    part.search = null
  }
}

/** A chunk of a text with its neighbours, as bytes. Each thread has one, for one text after the other. */
private[redaction] final class Part {
  val bytes: Array[Byte] = Bytes.buffer()

  /** Where the chunk is in [[bytes]]. */
  var begin = 0
  var end = 0

  /** Where the text in [[bytes]] ends: around the chunk are some of its neighbours. */
  var limit = 0

  /** What is to be added to a position in [[bytes]] to get the one in the text. */
  var shift = 0
  var search: Search = _

  /** Takes the chunk of `text` that begins at `base`. */
  def copy(text: String, base: Int): Unit = {
    val from = math.max(0, base - Bytes.Margin)
    val until = math.min(text.length, base + Bytes.Chunk + Bytes.Margin)
    Bytes.copy(text, from, until, bytes)
    shift = from - Bytes.Lead
    begin = base - shift
    end = math.min(text.length, base + Bytes.Chunk) - shift
    limit = until - shift
  }
}

private[redaction] object Part {
  private val parts = new ThreadLocal[Part] {
    override def initialValue(): Part = new Part
  }

  /** This thread's. */
  def mine: Part = parts.get()
}

/** Before where no other match of each pattern begins; made only when there is one, since most texts have none. */
private[redaction] final class Done {
  private var owners: Array[Int] = _
  private var nexts: Array[Int] = _
  private var encodings: Array[Int] = _
  private var cores: Array[Int] = _
  private var lasts: Array[Int] = _

  /** Whether `at` is in the last match of the pattern, where no other begins; a crowded slot may have forgotten it. */
  def covers(pattern: Int, at: Int): Boolean =
    owners != null && { val slot = pattern & 1023; owners(slot) == pattern + 1 && at < nexts(slot) }

  def add(pattern: Int, next: Int): Unit = {
    if (owners == null) { owners = new Array[Int](1024); nexts = new Array[Int](1024) }
    owners(pattern & 1023) = pattern + 1
    nexts(pattern & 1023) = next
  }

  /** Where the last match of the beginning of an encoding ended, and its rest. */
  def core(pattern: Int): Int = cores(pattern & 1023)
  def last(pattern: Int): Int =
    if (encodings != null && encodings(pattern & 1023) == pattern + 1) lasts(pattern & 1023) else -1

  def reach(pattern: Int, core: Int, last: Int): Unit = {
    if (encodings == null) {
      encodings = new Array[Int](1024); cores = new Array[Int](1024); lasts = new Array[Int](1024)
    }
    encodings(pattern & 1023) = pattern + 1
    cores(pattern & 1023) = core
    lasts(pattern & 1023) = last
  }
}
