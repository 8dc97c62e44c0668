package io.sparkconfig.redaction.engine

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
  private val parts = ThreadLocal.withInitial[Part](() => new Part)

  /** This thread's. */
  def mine: Part = parts.get()
}
