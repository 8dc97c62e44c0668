package io.sparkconfig.redaction

import io.sparkconfig.core.Expression

/**
 * Tells clear secrets from references and substitutions. The same rules as Python's `settings/expressions.py`: without
 * a colon `${x}` is text, and may be a part of a password. Linear in the text, without regular expressions.
 */
private[redaction] object Literals {

  /** Stand for each character of a reference or a substitution, and for those of `${name}` and `$[name]`. */
  private val Replaced = '\ufffc'
  private val Variable = '\ufffb'

  /** Longer ones stay: their ends may belong to different parts of a long text. */
  private val Longest = 2000
  private val MostBrackets = 5
  private val Punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

  /** Whether a text holds no reference and no substitution, and is more than the name of a variable. */
  def isLiteral(text: String): Boolean = !Expression.mayHold(text) || {
    val shown = marked(text.replace(Replaced, Variable))
    shown.indexOf(Replaced.toInt) < 0 &&
    (shown.indexOf(Variable.toInt) < 0 || shown.codePoints.anyMatch(c => Character.isLetterOrDigit(c)))
  }

  private def marked(text: String): String = {
    val shown = text.toCharArray
    substitutions(text, shown)
    val left = new String(shown)
    references(left, shown)
    brackets(new String(shown), shown)
    new String(shown)
  }

  /** Marks what KIP-269 finds: the first `$[` of a text decides how many brackets open and close. */
  private def substitutions(text: String, shown: Array[Char]): Unit = {
    var start = text.indexOf("$[")
    var count = 0
    while (start >= 0 && count <= MostBrackets && text.startsWith("[", start + 1 + count)) count += 1
    if (count > MostBrackets) return
    val opening = "$" + "[" * count
    val closing = "]" * count
    while (start >= 0) {
      val inside = start + opening.length
      val end = text.indexOf(closing, inside)
      if (end < 0) return
      val done = end + count
      if (end == inside) fill(shown, start, done, Variable)
      else if (done - start <= Longest && isCommand(text.substring(inside, end))) fill(shown, start, done, Replaced)
      start = text.indexOf(opening, done)
    }
  }

  /** Whether a text between the delimiters is `TYPE MODIFIERS = IDENTIFIER`. */
  private def isCommand(text: String): Boolean = text.indexOf('=') >= 0 && {
    val end = text.indexWhere(c => Punctuation.indexOf(c.toInt) >= 0)
    end > 0 && (text.charAt(end) == '=' || hasModifiers(text, end, text.charAt(end)))
  }

  private def hasModifiers(text: String, end: Int, mark: Char): Boolean = {
    val close = text.indexOf(s"$mark=", end)
    close >= end + 2 && text.charAt(end + 1) != mark && text.charAt(close - 1) != mark &&
    text.substring(end + 1, close).split(mark).forall(_.trim.nonEmpty)
  }

  /** Marks what is from `${` to the next `}`: a reference if a colon is between. */
  private def references(text: String, shown: Array[Char]): Unit = {
    var start = text.indexOf("${")
    while (start >= 0) {
      val end = text.indexOf('}', start) + 1
      if (end == 0) { unclosed(text, start, shown); return }
      if (end - start <= Longest) {
        // Not by indexOf in the whole text: without a colon it looks at all that follows each time.
        fill(shown, start, end, if (text.substring(start, end).indexOf(':') >= 0) Replaced else Variable)
      }
      start = text.indexOf("${", end)
    }
  }

  /** A brace was forgotten: what follows may be the name of a variable, or a reference. */
  private def unclosed(text: String, from: Int, shown: Array[Char]): Unit = {
    var start = from
    while (start >= 0) {
      var end = start + 2
      while (end < text.length && end < start + 2 + Longest && !isBorder(text.charAt(end))) end += 1
      fill(shown, start, end, Variable)
      start = text.indexOf("${", end)
    }
  }

  private def isBorder(c: Char): Boolean =
    Character.isWhitespace(c) || Character.isSpaceChar(c) || c == '\u0085' || "\"'&;,".indexOf(c.toInt) >= 0

  /** Marks what is from `$[` to the next `]`. */
  private def brackets(text: String, shown: Array[Char]): Unit = {
    var start = text.indexOf("$[")
    var end = 0
    while (start >= 0) {
      if (end <= start) end = text.indexOf(']', start) + 1
      if (end == 0) return
      val fits = end - start - 3 <= Longest
      if (fits) fill(shown, start, end, Variable)
      start = text.indexOf("$[", if (fits) end else start + 2)
    }
  }

  private def fill(shown: Array[Char], from: Int, until: Int, sign: Char): Unit =
    java.util.Arrays.fill(shown, from, until, sign)
}
