package io.sparkconfig.agent

import java.io.IOException
import java.nio.file.{Files, Path}

/** Whether the job's user could write a file, or put another one in its place. */
private[agent] object Trust {
  private val Sticky = Integer.parseInt("1000", 8)
  private val ByAll = Integer.parseInt("0002", 8)
  private val MostLinks = 40

  /**
   * Says what is wrong with the file, a link on its way, or a directory above one of these.
   *
   * @param user the job's; root can write everything, so for root only what everybody can write is wrong
   * @param what it is, for people
   * @throws IOException it cannot be read
   */
  def problem(path: Path, user: Long, what: String): Option[String] = {
    val named = links(path.toAbsolutePath)
    val all =
      named ++ named.flatMap(each => above(each) ++ above(each.getParent.toRealPath().resolve(each.getFileName)))
    (all.filterNot(Files.isSymbolicLink(_)) :+ path.toRealPath()).distinct
      .flatMap(each => wrong(each, user, what)).headOption
  }

  /** The path, what it links to, and so on; the last one is not a link. */
  private def links(path: Path): Seq[Path] = {
    val found = Iterator.iterate(Option(path)) {
      case Some(link) if Files.isSymbolicLink(link) =>
        Some(link.getParent.resolve(Files.readSymbolicLink(link)).toAbsolutePath)
      case _ => None
    }.takeWhile(_.isDefined).flatten.take(MostLinks + 1).toList
    if (found.size > MostLinks) throw new IOException("too many links")
    found
  }

  private def above(path: Path): Seq[Path] =
    Iterator.iterate(path.getParent)(_.getParent).takeWhile(_ != null).toList

  private def wrong(path: Path, user: Long, what: String): Option[String] = {
    val mode = Files.getAttribute(path, "unix:mode").asInstanceOf[Int]
    val shared = Files.isDirectory(path) && (mode & Sticky) != 0
    if (user != 0 && Files.getAttribute(path, "unix:uid").asInstanceOf[Int].toLong == user) Some(
      s"$path of $what belongs to the user that runs the job (uid $user), who could change it; " +
        s"let root own it: chown root $path")
    else if (shared) None
    else if ((mode & ByAll) != 0) Some(
      s"everybody can write $path, and so change $what; take that permission away: chmod o-w $path")
    else if (user != 0 && Files.isWritable(path)) Some(
      s"the job's user (uid $user) can write $path, and so change $what; take that permission away")
    else None
  }
}
