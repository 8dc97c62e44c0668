package io.sparkconfig.redaction.engine

import java.util.LinkedHashSet

/**
 * What parsers of URLs quote of a value in their errors: it, cut at signs that mean something to them. The same rules
 * as Python's `patterns._fragments`.
 */
private[redaction] object Fragments {

  /** Fragments are made of values that are no longer, and of so many cuts each with each. */
  private val Longest = 256
  private val CutsLimit = 8

  /** Of a text with secrets of its own inside, such as a URL, they come from these secrets. */
  def of(text: String): LinkedHashSet[String] = {
    val found = new LinkedHashSet[String]()
    val cuts =
      if (isSimple(text)) text.indices.filter(i => Constants.FragmentCuts.indexOf(text.charAt(i).toInt) >= 0) else Nil
    if (cuts.nonEmpty && Credentials.of(text).isEmpty) {
      val starts = 0 +: cuts.map(_ + 1)
      val ends = cuts :+ text.length
      val furthest = if (cuts.size <= CutsLimit) cuts.size else 0
      for {
        (start, index) <- starts.zipWithIndex
        end <- ends.slice(index, index + furthest + 1)
        if end > start && end - start < text.length
      } {
        val part = Forms.bare(text.substring(start, end))
        if (isFragment(part)) found.add(part)
      }
    }
    found
  }

  private def isSimple(text: String): Boolean =
    text.codePointCount(0, text.length) <= Longest && !text.contains("://") && !text.exists(c =>
      c == '\r' || c == '\n') &&
      !text.startsWith("{") && !text.startsWith("[") &&
      // The parts of a folder's name appear in half of all errors, and everybody knows them.
      !Constants.FragmentPaths.matcher(text).matches()

  private def isFragment(part: String): Boolean =
    part.codePointCount(0, part.length) >= Constants.FragmentFloor && !part.startsWith("spark.") &&
      !Constants.CommonWords(part.toLowerCase(java.util.Locale.ROOT)) && !Constants.FragmentWords.matcher(
        part).matches()
}
