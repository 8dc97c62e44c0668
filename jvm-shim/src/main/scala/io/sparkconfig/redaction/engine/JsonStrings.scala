package io.sparkconfig.redaction.engine

private[redaction] object JsonStrings {

  /** Where all of them stand. */
  def places(text: String): Intervals = {
    val found = new Intervals
    each(text)((start, end, _, _) => found.add(start, end))
    found
  }

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
