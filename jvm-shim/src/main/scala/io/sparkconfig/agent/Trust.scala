package io.sparkconfig.agent

import java.io.IOException
import java.nio.file.LinkOption.NOFOLLOW_LINKS
import java.nio.file.{Files, Path}

import scala.collection.JavaConverters._
import scala.collection.mutable.ListBuffer

/** Whether the job's user could write a file, or put another one in its place. */
private[agent] object Trust {
  private val Sticky = Integer.parseInt("1000", 8)
  private val ByAll = Integer.parseInt("0002", 8)
  private val MostLinks = 40

  /**
   * Says what is wrong with the file, or with a link or a directory on the way to it.
   *
   * @param user the job's; root can write everything, so for root only what everybody can write is wrong
   * @param what it is, for people
   * @throws IOException it cannot be read
   */
  def problem(path: Path, user: Long, what: String): Option[String] =
    onTheWay(path.toAbsolutePath).distinct.flatMap(each => wrong(each, user, what)).headOption

  /** Every directory and link that the kernel passes on its way to the file, and the file. */
  private def onTheWay(path: Path): Seq[Path] = {
    val found = ListBuffer(path.getRoot)
    var at = path.getRoot
    var rest = path.iterator.asScala.toList
    var links = 0
    while (rest.nonEmpty) {
      val name = rest.head.toString
      rest = rest.tail
      if (name == "..") at = Option(at.getParent).getOrElse(at)
      else if (name != "." && name.nonEmpty) {
        val next = at.resolve(name)
        found += next
        if (Files.isSymbolicLink(next)) {
          links += 1
          if (links > MostLinks) throw new IOException("too many links")
          val target = Files.readSymbolicLink(next)
          if (target.isAbsolute) at = target.getRoot
          rest = target.iterator.asScala.toList ++ rest
        } else at = next
      }
    }
    found.toList
  }

  private def wrong(path: Path, user: Long, what: String): Option[String] = {
    val mode = Files.getAttribute(path, "unix:mode", NOFOLLOW_LINKS).asInstanceOf[Int]
    val shared = Files.isDirectory(path) && (mode & Sticky) != 0
    if (user != 0 && Files.getAttribute(path, "unix:uid", NOFOLLOW_LINKS).asInstanceOf[Int].toLong == user) Some(
      s"$path of $what belongs to the user that runs the job (uid $user), who could change it; " +
        s"let root own it: chown root $path")
    else if (shared || Files.isSymbolicLink(path)) None // only its owner can replace a link there, or change one
    else if ((mode & ByAll) != 0) Some(
      s"everybody can write $path, and so change $what; take that permission away: chmod o-w $path")
    else if (user != 0 && Files.isWritable(path)) Some(
      s"the job's user (uid $user) can write $path, and so change $what; take that permission away")
    else None
  }
}
