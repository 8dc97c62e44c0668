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
  // No scheme is longer; without a bound, a long value without "://" takes quadratic time.
  private val UserInfo = Regex.compile("[A-Za-z][A-Za-z0-9+.:-]{0,99}://([^/?#\\s]*)@")

  /** A password that should have been percent-encoded; "host:5432/path@x" has none. */
  private val Slashed = Regex.compile("[A-Za-z][A-Za-z0-9+.:-]{0,99}://(?!\\[)[^/?#\\s:@]{0,256}:(?![0-9]{1,5}[/?#])" +
    "([^/?#\\s@]{0,256}[/?#][^\\s@]{0,256})@")
  private val Oracle =
    Regex.compile("jdbc:oracle:[a-z]{1,16}:[^/@\\s]{0,256}/(\"[^\"]{1,256}\"|[^\"@\\s]{1,256})@")
  private val Pair = Regex.compile("([A-Za-z][A-Za-z0-9._ /-]{0,63}?)\\s*=\\s*(.+)", Regex.DOTALL)
  private val Quoted = Regex.compile(
    "([A-Za-z][A-Za-z0-9._-]{0,63})\\s*=\\s*(\"(?:[^\"\\\\]|\\\\.)*+\"|'(?:[^'\\\\]|\\\\.)*+')",
    Regex.DOTALL)

  /** SQL Server and ODBC: a closing brace inside is written twice. */
  private val Braced = Regex.compile(
    "([A-Za-z][A-Za-z0-9._-]{0,63})[ \t]{0,8}=[ \t]{0,8}\\{([^}]*+(?:\\}\\}[^}]*+)*)\\}")

  /** In lists of any kind: Teradata's, MySQL's addresses, DB2's, libpq's with blanks around the sign. */
  private val Listed = Regex.compile("(?:^|[;&?,(/: \t])[ \t]{0,8}([A-Za-z][A-Za-z0-9._-]{0,63})[ \t]{0,8}=[ \t]{0,8}" +
    "([^;&,() \t\"'{?#]+)")
  private val Colon =
    Regex.compile("[ \t-]*[\"']?([A-Za-z][A-Za-z0-9._ -]{0,63})[\"']?[ \t]*:[ \t]+(.+)", Regex.DOTALL)
  private val Header = Regex.compile(
    "(?:[A-Za-z][A-Za-z0-9-]{0,63}:[ \t]*)?(bearer|basic|token|apikey|negotiate)[ \t]+([A-Za-z0-9._~+/=:-]+)",
    Regex.CASE_INSENSITIVE)
  private val Netrc = Regex.compile("(?:(?:machine[ \t]+[^ \t]+|default)[ \t]+)?" +
    "(?:login[ \t]+[^ \t]+[ \t]+)?password[ \t]+([^ \t=:][^ \t]*)")

  /** The secrets in a line without blanks around it. */
  def of(text: String): Seq[String] = {
    val found = Seq.newBuilder[String]
    each(UserInfo, text)(hit => found ++= hit.group(1).split(":", 2))
    Seq(Slashed, Oracle).foreach(pattern => each(pattern, text)(hit => found += stripped(hit.group(1), "\"")))
    if (text.indexOf(':') >= 0)
      whole(Colon, text).filter(after => isSecret(after.group(1)))
        .foreach(after => found += stripped(Forms.bare(after.group(2)), "\"'"))
    whole(Header, text).foreach { header =>
      found += header.group(2)
      if (header.group(1).equalsIgnoreCase("basic")) found ++= userAndPassword(header.group(2))
    }
    whole(Netrc, text).foreach(entry => found += entry.group(1))
    if (text.indexOf('=') >= 0) found ++= ofPairs(text)
    found.result()
  }

  private def ofPairs(text: String): Seq[String] = {
    val found = Seq.newBuilder[String]
    def named(pattern: Regex)(value: String => String): Unit =
      each(pattern, text)(hit => if (isSecret(hit.group(1))) found += value(hit.group(2)))
    named(Quoted)(quoted => quoted.substring(1, quoted.length - 1).replaceAll("(?s)\\\\(.)", "$1"))
    named(Braced)(_.replace("}}", "}"))
    val pairs = (if (text.indexOf(';') >= 0) text.split(";").toSeq else Nil) ++
      text.substring(text.indexOf('?') + 1).split("&") ++ text.split("\\s+")
    pairs.foreach { written =>
      whole(Pair, Forms.bare(written)).filter(pair => isSecret(pair.group(1))).foreach { pair =>
        found += stripped(Forms.bare(pair.group(2)), "\"'{}")
        found += pair.group(2)
      }
    }
    named(Listed)(identity)
    found.result()
  }

  private def userAndPassword(written: String): Seq[String] =
    try UTF_8.newDecoder().decode(ByteBuffer.wrap(Base64.getDecoder.decode(written))).toString.split(":", 2).toSeq
    catch { case _: IllegalArgumentException | _: CharacterCodingException => Nil }

  private def each(pattern: Regex, text: String)(use: Matcher => Unit): Unit = {
    val matcher = pattern.matcher(text)
    while (matcher.find()) use(matcher)
  }

  private def whole(pattern: Regex, text: String): Option[Matcher] =
    Some(pattern.matcher(text)).filter(_.matches())

  private def stripped(text: String, signs: String): String = {
    def isSign(c: Char) = signs.indexOf(c.toInt) >= 0
    text.dropWhile(isSign).reverse.dropWhile(isSign).reverse
  }

  private def isSecret(name: String): Boolean =
    Constants.SecretNames.matcher(name).find() && !Constants.HarmlessNames.matcher(name).find()
}
