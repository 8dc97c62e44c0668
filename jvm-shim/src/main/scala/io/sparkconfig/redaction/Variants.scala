package io.sparkconfig.redaction

import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import java.util.{ArrayList, Base64}

/**
 * One text to look for. Escapes need no pattern of their own, see [[Readings]].
 * @param open the text was cut (long encodings are): what follows in the same alphabet belongs to the match
 */
private[redaction] final class Pattern(val text: String, val alphabet: Int, val open: Boolean)

private[redaction] object Pattern {
  val Plain = 0
  val Base64 = 1
  val Hex = 2

  def inAlphabet(c: Char, alphabet: Int): Boolean = alphabet match {
    case Base64 => Readings.isAlnum(c) || c == '+' || c == '/' || c == '-' || c == '_' || c == '='
    case Hex => Character.digit(c, 16) >= 0
    case _ => false
  }
}

/** The texts by which a value can be recognised: itself, its lines, parts of long ones, base64, base64url, hex. */
private[redaction] object Variants {
  /** Values, and lines of values, shorter than this are not registered unless declared; in characters. */
  val Floor = 8
  /** Encodings are cut after this many characters; a match then runs on to the end of the encoded text. */
  private val EncodedLimit = 192
  /** Errors and pages cut long texts: of a value that is twice as long, each part of this length counts too. */
  private val Part = 64
  private val PartsLimit = 8192
  /** A part of fewer different characters could be a rule or an indentation. */
  private val PartVariety = 12

  def of(value: String): ArrayList[Pattern] = {
    val found = new ArrayList[Pattern]()
    found.add(new Pattern(value, Pattern.Plain, open = false))
    addParts(value, found)
    addLines(value, found)
    // An encoding of a few characters looks like any other text.
    if (value.length >= Floor) {
      val bytes = value.getBytes(UTF_8)
      addHex(bytes, found)
      addBase64(bytes, found)
    }
    found
  }

  private def addLines(value: String, found: ArrayList[Pattern]): Unit =
    if (value.indexOf('\n') >= 0 || value.indexOf('\r') >= 0)
      value.split("[\r\n]+").foreach { line =>
        val bare = line.trim
        // "-----BEGIN PRIVATE KEY-----" is no secret.
        if (bare.length >= Floor && !bare.startsWith("-----") && bare != value) {
          found.add(new Pattern(bare, Pattern.Plain, open = false))
          addParts(bare, found)
        }
      }

  private def addParts(text: String, found: ArrayList[Pattern]): Unit =
    if (text.length >= 2 * Part)
      text.take(PartsLimit).grouped(Part).filter(part => part.length == Part && part.distinct.length >= PartVariety)
        .foreach(part => found.add(new Pattern(part, Pattern.Plain, open = false)))

  private def addHex(bytes: Array[Byte], found: ArrayList[Pattern]): Unit = {
    val count = math.min(bytes.length, EncodedLimit / 2)
    val lower = new java.lang.StringBuilder(count * 2)
    var i = 0
    while (i < count) {
      lower.append(Character.forDigit((bytes(i) >> 4) & 15, 16)).append(Character.forDigit(bytes(i) & 15, 16))
      i += 1
    }
    val open = count < bytes.length
    val text = lower.toString
    found.add(new Pattern(text, Pattern.Hex, open))
    val upper = text.toUpperCase(java.util.Locale.ROOT)
    if (upper != text) found.add(new Pattern(upper, Pattern.Hex, open))
  }

  /** What stays the same in base64 whatever stands before and after the value. */
  private def addBase64(bytes: Array[Byte], found: ArrayList[Pattern]): Unit = {
    val count = math.min(bytes.length, EncodedLimit * 3 / 4)
    var offset = 0
    while (offset < 3) {
      val padded = new Array[Byte](offset + count)
      System.arraycopy(bytes, 0, padded, offset, count)
      val encoded = new String(Base64.getEncoder.withoutPadding.encode(padded), ISO_8859_1)
      val from = (offset * 8 + 5) / 6
      val until = (offset + count) * 8 / 6
      val core = encoded.substring(from, until)
      val open = count < bytes.length
      found.add(new Pattern(core, Pattern.Base64, open))
      val url = core.replace('+', '-').replace('/', '_')
      if (url != core) found.add(new Pattern(url, Pattern.Base64, open))
      offset += 1
    }
  }
}
