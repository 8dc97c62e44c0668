package io.sparkconfig.redaction.engine

import java.nio.ByteBuffer
import java.nio.charset.CharacterCodingException
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64
import java.util.regex.{Matcher, Pattern => Regex}

/**
 * The secrets inside one line of text: URLs, DSNs, connection strings, JAAS configurations, headers, netrc. The same
 * rules as Python's `credentials.py`.
 */
private[redaction] object Credentials {
  // All are bounded or possessive: a long value takes no quadratic time. What each finds, the cases name.
  private val byKind = Constants.Credentials.map { case (kind, text) => kind -> Regex.compile(text, Regex.DOTALL) }

  /** The secrets in a line without blanks around it. */
  def of(text: String): Seq[String] = {
    val found = Seq.newBuilder[String]
    each("user_info", text)(hit => found ++= hit.group(1).split(":", 2))
    Seq("slashed", "oracle").foreach(kind => each(kind, text)(hit => found += stripped(hit.group(1), "\"")))
    if (text.indexOf(':') >= 0)
      whole("colon", text).filter(after => isSecret(after.group(1)))
        .foreach(after => found += stripped(Forms.bare(after.group(2)), "\"'"))
    whole("header", text).foreach { header =>
      found += header.group(2)
      if (header.group(1).equalsIgnoreCase("basic")) found ++= userAndPassword(header.group(2))
    }
    whole("netrc", text).foreach(entry => found += entry.group(1))
    if (text.indexOf('=') >= 0) found ++= ofPairs(text)
    found.result()
  }

  private def ofPairs(text: String): Seq[String] = {
    val found = Seq.newBuilder[String]
    found ++= quoted(text) ++= named("braced", text)(_.replace("}}", "}"))
    val pairs = (if (text.indexOf(';') >= 0) text.split(";").toSeq else Nil) ++
      text.substring(text.indexOf('?') + 1).split("&") ++ text.split("\\s+")
    pairs.foreach { written =>
      whole("pair", Forms.bare(written)).filter(pair => isSecret(pair.group(1))).foreach { pair =>
        found += stripped(Forms.bare(pair.group(2)), "\"'{}")
        found += pair.group(2)
      }
    }
    found ++= named("listed", text)(identity)
    found.result()
  }

  /** The secrets in quotes behind their names, as a JAAS configuration has them. */
  def quoted(text: String): Seq[String] =
    named("quoted", text)(quoted => quoted.substring(1, quoted.length - 1).replaceAll("(?s)\\\\(.)", "$1"))

  private def named(kind: String, text: String)(value: String => String): Seq[String] = {
    val found = Seq.newBuilder[String]
    each(kind, text)(hit => if (isSecret(hit.group(1))) found += value(hit.group(2)))
    found.result()
  }

  private def userAndPassword(written: String): Seq[String] =
    try UTF_8.newDecoder().decode(ByteBuffer.wrap(Base64.getDecoder.decode(written))).toString.split(":", 2).toSeq
    catch { case _: IllegalArgumentException | _: CharacterCodingException => Nil }

  private def each(kind: String, text: String)(use: Matcher => Unit): Unit = {
    val matcher = byKind(kind).matcher(text)
    while (matcher.find()) use(matcher)
  }

  private def whole(kind: String, text: String): Option[Matcher] =
    Some(byKind(kind).matcher(text)).filter(_.matches())

  private def stripped(text: String, signs: String): String = {
    def isSign(c: Char) = signs.indexOf(c.toInt) >= 0
    text.dropWhile(isSign).reverse.dropWhile(isSign).reverse
  }

  private def isSecret(name: String): Boolean =
    Constants.SecretNames.matcher(name).find() && !Constants.HarmlessNames.matcher(name).find()
}
