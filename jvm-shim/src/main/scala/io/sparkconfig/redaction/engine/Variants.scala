package io.sparkconfig.redaction.engine

import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import java.util.{ArrayList, Base64}

/**
 * One text to look for. Escapes need no pattern of their own, see [[Readings]].
 * @param rest  how many more characters the whole encoding has, of which the text is the beginning: what follows in
 *              the same alphabet belongs to the match, up to these
 * @param block a part of a long value, which is masked where no client reads
 */
private[redaction] final class Pattern(
    val text: String,
    val alphabet: Int,
    val rest: Int,
    val block: Boolean = false)

private[redaction] object Pattern {
  val Plain = 0
  val Base64 = 1
  val Hex = 2

  /** The characters of an alphabet that may be escaped. */
  def signs(alphabet: Int): String = alphabet match {
    case Base64 => "+/-_="
    case _ => ""
  }

  def inAlphabet(c: Char, alphabet: Int): Boolean = alphabet match {
    case Base64 => Readings.isAlnum(c) || c == '+' || c == '/' || c == '-' || c == '_' || c == '='
    case Hex => Readings.digit(c, 16) >= 0
    case _ => false
  }
}

/** The writings of a text that escapes alone do not explain: itself, parts of long ones, and its encodings. */
private[redaction] object Variants {

  /** Encodings are cut after this many characters; a match then runs on for as many as the whole has. */
  private val EncodedLimit = 192

  /** Errors and pages cut long texts: of a value that is twice as long, each part of this length counts too. */
  private val Part = 64
  private val PartsLimit = 8192

  /** A part of fewer different characters could be a rule or an indentation. */
  private val PartVariety = 12

  /** The patterns of one of the texts that [[Forms]] yields. */
  def of(text: String): ArrayList[Pattern] = {
    val found = new ArrayList[Pattern]()
    found.add(new Pattern(text, Pattern.Plain, rest = 0))
    addParts(text, found)
    // An encoding of a few characters looks like any other text.
    if (text.codePointCount(0, text.length) >= Constants.Floor) {
      val bytes = text.getBytes(UTF_8)
      addHex(bytes, found)
      addBase64(bytes, found)
    }
    found
  }

  private def addParts(text: String, found: ArrayList[Pattern]): Unit =
    if (text.length >= 2 * Part)
      text.take(PartsLimit).grouped(Part).filter(part => part.length == Part && part.distinct.length >= PartVariety)
        .foreach(part => found.add(new Pattern(part, Pattern.Plain, rest = 0, block = true)))

  private def addHex(bytes: Array[Byte], found: ArrayList[Pattern]): Unit = {
    val count = math.min(bytes.length, EncodedLimit / 2)
    val lower = new java.lang.StringBuilder(count * 2)
    var i = 0
    while (i < count) {
      lower.append(Character.forDigit((bytes(i) >> 4) & 15, 16)).append(Character.forDigit(bytes(i) & 15, 16))
      i += 1
    }
    val rest = 2 * (bytes.length - count)
    val text = lower.toString
    found.add(new Pattern(text, Pattern.Hex, rest))
    val upper = text.toUpperCase(java.util.Locale.ROOT)
    if (upper != text) found.add(new Pattern(upper, Pattern.Hex, rest))
  }

  private def addBase64(bytes: Array[Byte], found: ArrayList[Pattern]): Unit =
    cores64(bytes) { (core, rest) =>
      Seq(core, core.replace('+', '-').replace('/', '_')).distinct.foreach(written =>
        found.add(new Pattern(written, Pattern.Base64, rest)))
    }

  /** What stays the same in base64 whatever stands before and after the value, and how many characters the rest has. */
  private def cores64(bytes: Array[Byte])(each: (String, Int) => Unit): Unit = {
    val count = math.min(bytes.length, EncodedLimit * 3 / 4)
    var offset = 0
    while (offset < 3) {
      val padded = new Array[Byte](offset + count)
      System.arraycopy(bytes, 0, padded, offset, count)
      val encoded = new String(Base64.getEncoder.withoutPadding.encode(padded), ISO_8859_1)
      val end = (offset + count) * 8 / 6
      each(
        encoded.substring((offset * 8 + 5) / 6, end),
        ((offset + bytes.length) * 8L / 6).toInt - end)
      offset += 1
    }
  }
}
