package io.sparkconfig.redaction.engine

/** Parts of a text, from left to right, that a search leaves as they are. */
private[redaction] final class Spans {
  private val starts = new java.util.ArrayList[Integer]()
  private val ends = new java.util.ArrayList[Integer]()

  def add(start: Int, end: Int): Unit = { starts.add(start); ends.add(end) }

  /** Whether a part holds all of this. */
  def hold(start: Int, end: Int): Boolean = {
    val found = java.util.Collections.binarySearch(starts, Integer.valueOf(start))
    val i = if (found >= 0) found else -found - 2
    i >= 0 && end <= ends.get(i)
  }
}

private[redaction] object JsonStrings {

  /**
   * The strings of a JSON text in linear time: where each stands without its quotes, whether it is a key, and the keys
   * that lead to it, the nearest first and itself not among them. A text that is not JSON yields what it looks like.
   */
  def each(text: String)(use: (Int, Int, Boolean, List[String]) => Unit): Unit = {
    var path = List.empty[String] // the keys of the open objects and lists
    var key = ""
    var at = 0
    while (at < text.length) {
      text.charAt(at) match {
        case '"' =>
          val start = at + 1
          at = start
          while (at < text.length && text.charAt(at) != '"') at += (if (text.charAt(at) == '\\') 2 else 1)
          val end = math.min(at, text.length)
          var next = end + 1
          while (next < text.length && Character.isWhitespace(text.charAt(next))) next += 1
          if (next < text.length && text.charAt(next) == ':') {
            use(start, end, true, path)
            key = text.substring(start, end)
          } else use(start, end, false, if (key.isEmpty) path else key :: path)
        case '{' | '[' => path ::= key; key = ""
        case '}' | ']' => path = path.drop(1); key = ""
        case ',' => key = ""
        case _ =>
      }
      at += 1
    }
  }
}
