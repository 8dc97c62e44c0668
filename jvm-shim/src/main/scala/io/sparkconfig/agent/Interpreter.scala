package io.sparkconfig.agent

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._

/** What a Python reads before it runs the first line of a program: no check of its own can come earlier. */
private[agent] object Interpreter {
  private val Marker = "pyvenv.cfg"

  /**
   * The interpreter, the `pyvenv.cfg` of its environment, the directory that this names as its `home`, and the
   * directories of its standard library. The first is the interpreter, which need not exist.
   *
   * @throws IOException one of them cannot be read, or names no absolute `home`
   */
  def files(python: Path): Seq[Path] =
    if (!Files.exists(python)) Seq(python)
    else {
      val folders = Seq(python, python.toRealPath()).flatMap(each => Seq(each.getParent, each.getParent.getParent))
      val markers = folders.filter(_ != null).distinct.map(_.resolve(Marker)).filter(Files.exists(_))
      val homes = markers.flatMap(home)
      val prefixes = (python.toRealPath().getParent +: homes).map(_.getParent).filter(_ != null).distinct
      (python +: markers) ++ homes ++ prefixes.flatMap(libraries)
    }

  /** Python takes the first line of this name. */
  private def home(marker: Path): Option[Path] =
    Files.readAllLines(marker, UTF_8).asScala.map(_.split("=", 2)).collectFirst {
      case Array(key, text) if key.trim.equalsIgnoreCase("home") => Paths.get(text.trim)
    }.map { found =>
      if (!found.isAbsolute) throw new IOException(s"$marker does not name an absolute home")
      found
    }

  private def libraries(prefix: Path): Seq[Path] =
    Seq("lib", "lib64").map(prefix.resolve(_)).filter(Files.isDirectory(_)).flatMap { folder =>
      val entries = Files.newDirectoryStream(folder, "python3*")
      try entries.asScala.toList
      finally entries.close()
    }
}
