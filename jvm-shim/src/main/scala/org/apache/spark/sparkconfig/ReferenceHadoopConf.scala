package org.apache.spark.sparkconfig

import java.util.{HashMap => JHashMap, Iterator => JIterator, Map => JMap}

import org.apache.hadoop.conf.Configuration
import org.apache.spark.SparkContext
import org.apache.spark.sparkconfig.access.Reflect

/**
 * A Hadoop configuration whose enumeration returns references (the environment page and event enumerate it) and
 * whose `get`, copy and serialised form return values, as file systems need them.
 *
 * @param references Hadoop key to the text with references
 */
private final class ReferenceHadoopConf(source: Configuration, references: Map[String, String])
  extends Configuration(source) {

  @volatile private[sparkconfig] var guard: HadoopGuard = HadoopGuard.Open

  /** All other setters end here. */
  override def set(name: String, value: String, source: String): Unit = {
    // Null in Hadoop's own constructors; a null value is Hadoop's own error.
    if (guard != null && value != null && getRaw(name) != value) guard.setting(name, Some(value))
    super.set(name, value, source)
  }

  override def unset(name: String): Unit = {
    if (guard != null && getRaw(name) != null) guard.setting(name, None)
    super.unset(name)
  }

  override def clear(): Unit = {
    if (guard != null) guard.clearing()
    super.clear()
  }

  private[sparkconfig] def unguarded(name: String, value: String): Unit = super.set(name, value, "sparkconfig")

  override def iterator(): JIterator[JMap.Entry[String, String]] = {
    val shown = new JHashMap[String, String]()
    val entries = super.iterator()
    while (entries.hasNext) {
      val entry = entries.next()
      shown.put(entry.getKey, references.getOrElse(entry.getKey, entry.getValue))
    }
    shown.entrySet().iterator()
  }
}

/** Is asked before the application's Hadoop configuration changes; an exception leaves it as it is. */
trait HadoopGuard {
  def setting(name: String, value: Option[String]): Unit
  def clearing(): Unit
}

object HadoopGuard {
  object Open extends HadoopGuard {
    override def setting(name: String, value: Option[String]): Unit = ()
    override def clearing(): Unit = ()
  }
}

/** Replaces the application's Hadoop configuration. */
object ReferenceHadoopConf {

  /**
   * @param references Hadoop key to text with references
   * @param values Hadoop key to value
   */
  def install(sc: SparkContext, references: Map[String, String], values: Map[String, String]): Unit = {
    val field = Reflect.field(classOf[SparkContext], "_hadoopConfiguration")
    val replaced = new ReferenceHadoopConf(sc.hadoopConfiguration, references)
    values.foreach { case (key, value) => replaced.set(key, value, "sparkconfig") }
    field.set(sc, replaced)
  }

  /** From now on `guard` checks what the application sets. */
  def guard(sc: SparkContext, guard: HadoopGuard): Unit = sc.hadoopConfiguration match {
    case ours: ReferenceHadoopConf => ours.guard = guard
    case _ => throw new IllegalStateException("SparkContext.hadoopConfiguration was replaced before the policies")
  }

  /** Puts values of a newer generation in place. Clients that file systems keep stay as they are. */
  def update(sc: SparkContext, values: Map[String, String]): Unit =
    values.foreach { case (key, value) =>
      if (sc.hadoopConfiguration.getRaw(key) != value) sc.hadoopConfiguration match {
        case ours: ReferenceHadoopConf => ours.unguarded(key, value)
        case other => other.set(key, value, "sparkconfig")
      }
    }
}
