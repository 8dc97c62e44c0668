package io.sparkconfig.core

import java.io.File
import java.util.jar.JarFile

import scala.collection.JavaConverters._

/**
 * All classes of this jar, loaded at once. When a client of a Thrift server leaves, Hive closes the class loader of
 * what came by `--jars`, and what was not loaded by then is gone for everybody.
 */
private[sparkconfig] object OwnClasses {
  private val Suffix = ".class"

  /** Loads them, without running any code of theirs. What needs a library that is not there stays away. */
  def load(): Unit = {
    val loader = getClass.getClassLoader
    if (loader ne ClassLoader.getSystemClassLoader) {
      val place = new File(getClass.getProtectionDomain.getCodeSource.getLocation.toURI)
      val jar = new JarFile(place)
      val names =
        try jar.entries.asScala.map(_.getName).filter(name =>
            name.endsWith(Suffix) && !name.startsWith("META-INF")).toList
        finally jar.close()
      names.foreach { name =>
        // A library that is missing is a LinkageError, which NonFatal lets pass as fatal.
        try Class.forName(name.stripSuffix(Suffix).replace('/', '.'), false, loader)
        catch { case _: ClassNotFoundException | _: LinkageError => () }
      }
    }
  }
}
