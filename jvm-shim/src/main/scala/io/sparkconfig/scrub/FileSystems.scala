package io.sparkconfig.scrub

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.{SparkEnv, TaskContext}

/**
 * The file systems of one task's logs. One that Hadoop's cache does not keep takes a second to make, and holds threads
 * and connections until somebody closes it.
 *
 * @param task what closes them at its end; null: nothing does
 */
private[scrub] class FileSystems(task: TaskContext) {
  private val made = mutable.Map[(String, String), FileSystem]()
  private lazy val configuration = FileSystems.configuration
  Option(task).foreach(_.addTaskCompletionListener[Unit](_ => close()))

  def of(path: Path): FileSystem = synchronized {
    val uri = path.toUri
    made.getOrElseUpdate((uri.getScheme, uri.getAuthority), path.getFileSystem(configuration))
  }

  /** Those that are in Hadoop's cache belong to others as well. */
  private def close(): Unit = synchronized {
    for (((scheme, _), system) <- made if configuration.getBoolean(s"fs.$scheme.impl.disable.cache", false))
      try system.close()
      catch { case NonFatal(_) => }
    made.clear()
  }
}

private[scrub] object FileSystems {

  /**
   * Hadoop's configuration of this process, from its confs: a reference in them has its value here, and none travels
   * in a task or in a broadcast.
   */
  private def configuration: Configuration = {
    val made = new Configuration()
    val conf = SparkEnv.get.conf
    for ((key, _) <- conf.getAll if key.startsWith("spark.hadoop."))
      made.set(key.stripPrefix("spark.hadoop."), conf.get(key))
    made
  }
}
