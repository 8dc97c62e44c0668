package io.sparkconfig.files

import java.nio.file.{Files, Path, Paths}

import io.sparkconfig.core.{Snapshot, SparkConfigException}
import io.sparkconfig.redaction.engine.Redactor
import org.slf4j.LoggerFactory

/** The files of a generation cannot be written here; the generation before it serves on. */
class FilePlacementException(message: String) extends SparkConfigException(message)

/**
 * Where an application's machines put its files.
 *
 * @param directory the same on all machines, so that a path that travels from the driver fits on executors
 * @param chosen whether a setting names the place: then no other will do
 * @param keepMs how long the file of an earlier generation stays
 */
final case class FileSettings(directory: String, chosen: Boolean, keepMs: Long)

object FileSettings {
  private val Usual = "/tmp"

  /** @param token cannot be guessed, so that no other user can make the directory first */
  def of(base: Option[String], token: String, keepMs: Long): FileSettings = {
    val usual = if (usable(Paths.get(Usual))) Usual else System.getProperty("java.io.tmpdir")
    FileSettings(Paths.get(base.getOrElse(usual), FileArea.Prefix + token).toString, base.isDefined, keepMs)
  }

  private[files] def usable(base: Path): Boolean = Files.isDirectory(base) && Files.isWritable(base)
}

/**
 * This process's files: written when a generation comes, and gone with the last process that uses them. One thread at a
 * time is at them; what there is to say is masked and logged when it has left.
 */
object LocalFiles {
  private val log = LoggerFactory.getLogger("io.sparkconfig.files.LocalFiles")
  private var area: Option[FileArea] = None
  @volatile private var failing: Option[String] = None

  def open(settings: FileSettings): Unit = synchronized {
    close()
    val given = Paths.get(settings.directory)
    val fallback = Paths.get(System.getProperty("java.io.tmpdir"), given.getFileName.toString)
    val place = if (settings.chosen || FileSettings.usable(given.getParent)) given else fallback
    area = Some(new FileArea(place, settings.keepMs))
  }

  /** Why the newest generation's files could not be written, until they can. */
  def problem: Option[String] = failing

  /**
   * Writes a snapshot's files; returns the snapshot with their paths instead of markers.
   *
   * @throws FilePlacementException a file cannot be written; nothing of what was there has changed
   */
  def place(snapshot: Snapshot): Snapshot =
    if (snapshot.files.isEmpty) snapshot
    else {
      val before = failing
      try {
        val paths = synchronized(
          area.getOrElse(throw new FilePlacementException("files can be used in Spark's own processes alone"))
            .place(snapshot.files.values.toSeq))
        failing = None
        before.foreach(_ => log.info("sparkconfig: files can be written again"))
        snapshot.placed(snapshot.files.values.map(file => file.marker -> paths(file.id)).toMap)
      } catch {
        case e: FilePlacementException =>
          val text = Redactor.redact(s"generation ${snapshot.generation} cannot be used here: ${e.getMessage}")
          failing = Some(text)
          if (!before.contains(text)) log.error("sparkconfig: {}", text)
          throw new FilePlacementException(text)
      }
    }

  /** Removes what has had its time, and what killed processes left behind. */
  def tidy(): Unit =
    synchronized(area.flatMap(_.tidy())).foreach(problem => log.warn("sparkconfig: {}", Redactor.redact(problem)))

  def close(): Unit = synchronized {
    area.foreach(_.close())
    area = None
    failing = None
  }
}
