package io.sparkconfig.policy

import java.io.File
import java.util.Locale

import scala.util.Try

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hadoop.security.UserGroupInformation

/**
 * One text for all spellings of a path, without opening anything: scheme in lower case, the default file system and
 * the working folder applied, `.`, `..` and `//` resolved as Hadoop does, and links where the file is local.
 * Globs stay.
 */
private[sparkconfig] object CanonicalPath {
  private val Glob = "*?[]{}\\"

  /**
   * @param local whether it is a path of this machine whatever the default is, as in LOAD DATA LOCAL
   * @param links whether they are followed
   */
  def of(text: String, conf: Configuration, local: Boolean = false, links: Boolean = true): String = Try {
    val uri = new Path(text).toUri
    val default = if (local) new File("/").toURI else FileSystem.getDefaultUri(conf)
    val scheme = Option(uri.getScheme).getOrElse(default.getScheme).toLowerCase(Locale.ROOT)
    val isDefault = scheme.equalsIgnoreCase(default.getScheme)
    val authority = Option(uri.getAuthority).orElse(Option(default.getAuthority).filter(_ => isDefault)).getOrElse("")
    val isFile = scheme == "file"
    val path = uri.getPath
    val parts = segments(if (path.startsWith("/")) path else s"${home(isFile)}/$path")
    if (isFile) s"file:${if (links) linked(parts) else parts.mkString("/", "/", "")}"
    else s"$scheme://${authority.toLowerCase(Locale.ROOT)}/${parts.mkString("/")}"
  }.getOrElse(s"unknown:$text")

  private def home(isFile: Boolean): String =
    if (isFile) new File("").getAbsolutePath else s"/user/${UserGroupInformation.getCurrentUser.getShortUserName}"

  private def segments(path: String): List[String] = path.split('/').foldLeft(List.empty[String]) {
    case (above, "" | ".") => above
    // The parent of a glob is not the parent of a name: `..` stays, and no rule allows it.
    case (last :: above, "..") if !isGlob(last) => above
    case (Nil, "..") => Nil
    case (above, part) => part :: above
  }.reverse

  /** As the machine resolves the part before the first glob. */
  private def linked(parts: List[String]): String = {
    val (plain, rest) = parts.span(part => !isGlob(part))
    val real = new File(plain.mkString("/", "/", "")).getCanonicalPath
    if (rest.isEmpty) real else s"${real.stripSuffix("/")}/${rest.mkString("/")}"
  }

  private def isGlob(part: String): Boolean = part.exists(Glob.indexOf(_) >= 0)
}
