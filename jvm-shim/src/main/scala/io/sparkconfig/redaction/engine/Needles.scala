package io.sparkconfig.redaction.engine

import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import java.util.{Base64, LinkedHashSet}

/**
 * One text to look for.
 * @param text what to look for in one form of the searched text
 * @param head what stood before it and may have been taken for the end of an escape: it is looked for one form earlier
 * @param tail what stood behind it and may have been taken for the beginning of one: looked for likewise
 * @param kind whether it is a value, a block of one, an encoding or a list of bytes
 */
private[redaction] final case class Needle(
    text: String,
    head: String = "",
    tail: String = "",
    kind: Int = Needle.Whole) {

  /** Whether it counts only where an escape has been undone. */
  def isPart: Boolean = head.nonEmpty || tail.nonEmpty

  /** The text that it writes, without blanks around it. */
  var of: String = _
}

private[redaction] object Needle {
  final val Whole = 0

  /** Masked where no client reads. */
  final val Block = 1

  /** The characters beside a match may hold some bits of the value too. */
  final val Encoded = 2

  /** Its numbers have too few digits for a window. */
  final val Listed = 3

  def isAlnum(c: Char): Boolean = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')

  /** Whether it may stand beside a match of an encoding. */
  def ofEncodings(c: Char): Boolean = isAlnum(c) || "+/-_".indexOf(c.toInt) >= 0
}

/** The needles of one of the texts that [[Forms]] yields. The same rules as Python's `forms.needles`. */
private[redaction] object Needles {
  import Constants.{CommonWords => _, _}

  /** What every encoder leaves as it is (some escape full stops): such a text is found raw, whatever precedes it. */
  private val Plain = "[A-Za-z0-9]*".r.pattern

  def of(text: String): LinkedHashSet[Needle] = {
    val found = new LinkedHashSet[Needle]()
    alternatives(text).foreach(written =>
      Canonical.forms(written).foreach(form => addForm(form.text, form.before == null, found)))
    if (text.length >= BlockFrom)
      (0 to math.min(text.length, BlockWithin) - BlockLength by BlockLength).foreach { at =>
        val block = text.substring(at, at + BlockLength)
        if (block.distinct.length >= BlockVariety) found.add(Needle(block, kind = Needle.Block))
      }
    // An encoding of a few characters looks like any other text.
    if (text.codePointCount(0, text.length) >= Floor) addEncodings(text.getBytes(UTF_8), found)
    val bare = Forms.bare(text)
    found.forEach(_.of = bare)
    found
  }

  private def addForm(text: String, first: Boolean, found: LinkedHashSet[Needle]): Unit = {
    // What is left of a text may be a word that stands everywhere.
    if (first || CommonWords.worthRegistering(text)) {
      found.add(Needle(text))
      addWithinEscapes(text, found)
    }
  }

  /** The text without what the signs around it make an escape of. */
  private def addWithinEscapes(text: String, found: LinkedHashSet[Needle]): Unit = {
    val tail = Tail.matcher(text)
    val heads =
      if (Plain.matcher(text).matches()) Nil else Heads.map(_.matcher(text)).filter(_.lookingAt()).map(_.end)
    // Each round may take one more.
    val ends = Iterator.iterate(text.length) { end =>
      if (tail.region(0, end).find()) tail.start else end
    }.take(3).toSeq.distinct
    // The longest head that leaves something to look for: an escape may take less.
    for (end <- ends; start <- (0 +: heads.map(math.min(_, end - Floor / 2))).distinct
      if start >= 0 && end - start < text.length && end - start >= Floor / 2)
      found.add(Needle(text.substring(start, end), text.substring(0, start), text.substring(end)))
  }

  /** The text, and how languages write it whose layers no round undoes: they stack, too. */
  private def alternatives(text: String): Seq[String] = {
    val layers = if (text.length <= LongestWithTwoLayers) LayersOfAlternatives else 1
    (1 to layers).foldLeft((Seq(text), Seq(text))) { case ((all, last), _) =>
      val more = last.flatMap(rewritten).distinct.filterNot(all.contains)
      (all ++ more, more)
    }._1
  }

  private def rewritten(text: String): Seq[String] = {
    val doubled = DoubledSigns.flatMap { sign =>
      // At a value's own ends the second sign may close the text around it.
      val from = text.indexWhere(_ != sign)
      val until = text.lastIndexWhere(_ != sign) + 1
      val inner = if (from < 0) "" else text.substring(from, until)
      if (inner.indexOf(sign.toInt) < 0) None
      else Some(text.substring(0, from) + inner.replace(sign.toString, s"$sign$sign") + text.substring(until))
    }
    val quoted = if (text.contains("'")) QuotesOfShells.map(text.replace("'", _)) else Nil
    val blanks = if (text.contains(" ")) Seq(text.replace(" ", FormBlank)) else Nil
    val letters = ControlLetters.foldLeft(text) { case (now, (letter, control)) => now.replace(control, letter) }
    doubled ++ quoted ++ blanks ++ (if (letters == text) Nil else Seq(letters))
  }

  private def addEncodings(bytes: Array[Byte], found: LinkedHashSet[Needle]): Unit = {
    def add(text: String, kind: Int): Unit = found.add(Needle(text, kind = kind))
    val pairs = bytes.map(byte => f"${byte & 0xff}%02x")
    val hex = pairs.mkString
    add(hex, Needle.Encoded)
    add(hex.toUpperCase(java.util.Locale.ROOT), Needle.Encoded)
    // What stays the same in base64 whatever stands before and after the value.
    (0 until 3).foreach { offset =>
      val encoded = new String(Base64.getEncoder.withoutPadding.encode(new Array[Byte](offset) ++ bytes), ISO_8859_1)
      val core = encoded.substring((offset * 8 + 5) / 6, (offset + bytes.length) * 8 / 6)
      add(core, Needle.Encoded)
      add(core.replace('+', '-').replace('/', '_'), Needle.Encoded)
    }
    ListSeparators.foreach { separator =>
      add(bytes.map(_ & 0xff).mkString(separator), Needle.Listed)
      // As Java prints bytes.
      add(bytes.mkString(separator), Needle.Listed)
    }
    add(pairs.mkString(" ").toUpperCase(java.util.Locale.ROOT), Needle.Listed)
  }
}
