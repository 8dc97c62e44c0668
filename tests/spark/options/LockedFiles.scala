package sparkconfigtest

import java.io.File
import java.net.URI
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths, StandardOpenOption}
import java.security.MessageDigest

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path, RawLocalFileSystem}
import org.apache.spark.SparkEnv

/**
 * Local files behind a lock: it opens only for who shows both keys of the moment, one asked for with `getPassword`
 * and one read from the configuration, as file systems of stores do.
 */
class LockedFiles extends RawLocalFileSystem {
  override def getUri: URI = URI.create("locked:///")
  override def getScheme: String = "locked"

  override def initialize(name: URI, configuration: Configuration): Unit = {
    super.initialize(name, configuration)
    val lock = Paths.get(configuration.get("fs.locked.lock"))
    val fits = new String(Files.readAllBytes(lock), UTF_8)
    check("getPassword", Option(configuration.getPassword("fs.locked.key")).map(new String(_)), fits)
    check("get", Option(configuration.get("fs.locked.plain.key")), fits)
    val opener = Option(SparkEnv.get).map(_.executorId).getOrElse("none") + "\n"
    Files.write(
      Paths.get(s"$lock.opened"),
      opener.getBytes(UTF_8),
      StandardOpenOption.CREATE,
      StandardOpenOption.APPEND)
  }

  override def pathToFile(path: Path): File = new File(path.toUri.getPath)

  private def check(how: String, key: Option[String], fits: String): Unit =
    if (!key.exists(digest(_) == fits)) {
      val shown = key match {
        case None => "nothing"
        case Some(text) if text.contains("${") => "a reference"
        case Some(_) => "another key"
      }
      throw new SecurityException(s"the lock stays closed: $how gave $shown")
    }

  private def digest(text: String): String =
    MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8)).map("%02x".format(_)).mkString
}
