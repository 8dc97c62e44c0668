package org.apache.spark.sparkconfig

import java.util.concurrent.ConcurrentHashMap
import java.util.{HashMap => JHashMap, Iterator => JIterator, Map => JMap, Properties}

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.spark.SparkContext
import org.apache.spark.sparkconfig.access.{HadoopValues, Reflect}

/**
 * A Hadoop configuration whose enumeration returns references (the environment page and event enumerate it) and
 * whose `get`, copy and serialised form return values, as file systems need them.
 */
private final class ReferenceHadoopConf(source: Configuration, values: HadoopValues) extends Configuration(source) {
  import ReferenceHadoopConf._

  @volatile private[sparkconfig] var guard: HadoopGuard = HadoopGuard.Open

  Overlay.set(this, replacing(Overlay.get(this).asInstanceOf[Properties]))

  /** All other setters end here. */
  override def set(name: String, value: String, source: String): Unit = {
    // Null in Hadoop's own constructors; a null value is Hadoop's own error.
    if (guard != null && value != null && shown(name) != value) guard.setting(name, Some(value))
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

  /** Hadoop forgets its properties when a class of it adds a resource, and makes new ones with what was set since. */
  override protected def getProps: Properties = synchronized {
    val known = super.getProps
    if (values == null || known.isInstanceOf[ReferenceProperties]) known
    else {
      val ours = replacing(known)
      Overlay.get(this) match {
        case set: ReferenceProperties => ours.texts.putAll(set.texts)
        case _ =>
      }
      Kept.set(this, ours)
      ours
    }
  }

  /** Each key that holds the value of a text, and the text. */
  private[sparkconfig] def texts: Map[String, String] = ours.texts.asScala.toMap

  private[sparkconfig] def update(name: String, value: String): Unit = synchronized {
    ours.update(name, value)
    Overlay.get(this).asInstanceOf[ReferenceProperties].update(name, value)
  }

  override def iterator(): JIterator[JMap.Entry[String, String]] = {
    val references = ours.texts
    val all = new JHashMap[String, String]()
    val entries = super.iterator()
    while (entries.hasNext) {
      val entry = entries.next()
      all.put(entry.getKey, references.getOrDefault(entry.getKey, entry.getValue))
    }
    all.entrySet().iterator()
  }

  private def shown(name: String): String = Option(ours.texts.get(name)).getOrElse(getRaw(name))

  private def ours: ReferenceProperties = getProps.asInstanceOf[ReferenceProperties]

  private def replacing(known: Properties): ReferenceProperties = {
    val made = new ReferenceProperties(values, copy = false, new ConcurrentHashMap())
    if (known != null) made.take(known)
    made
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
  private val Overlay = Reflect.field(classOf[Configuration], "overlay")
  private val Kept = Reflect.field(classOf[Configuration], "properties")

  /**
   * @param references Hadoop key to text with references: those that the application was started with
   * @param values what they, and what is set later, become
   */
  def install(sc: SparkContext, references: Map[String, String], values: HadoopValues): Unit = {
    val field = Reflect.field(classOf[SparkContext], "_hadoopConfiguration")
    val replaced = new ReferenceHadoopConf(sc.hadoopConfiguration, values)
    references.foreach { case (key, text) => replaced.set(key, text, "sparkconfig") }
    field.set(sc, replaced)
  }

  /** From now on `guard` checks what the application sets. */
  def guard(sc: SparkContext, guard: HadoopGuard): Unit = sc.hadoopConfiguration match {
    case ours: ReferenceHadoopConf => ours.guard = guard
    case _ => throw new IllegalStateException("SparkContext.hadoopConfiguration was replaced before the policies")
  }

  /** Puts values of a newer generation in place. Clients that file systems keep stay as they are. */
  def update(sc: SparkContext, newest: String => Option[String]): Unit = sc.hadoopConfiguration match {
    case ours: ReferenceHadoopConf => for {
        (key, text) <- ours.texts
        value <- newest(text)
        if ours.getRaw(key) != value
      } ours.update(key, value)
    case _ =>
  }
}
