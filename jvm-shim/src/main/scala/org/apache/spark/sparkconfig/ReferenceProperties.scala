package org.apache.spark.sparkconfig

import java.util.Properties
import java.util.concurrent.ConcurrentHashMap

/** What becomes of a text that is set in a Hadoop configuration. */
trait HadoopValues {

  /**
   * The value of a text; None: it stays as it is.
   *
   * @param copy whether the configuration is a copy of the application's, as each session makes one of its confs
   * @throws io.sparkconfig.core.SparkConfigException naming the key, if its reference has no value
   */
  def of(key: String, text: String, copy: Boolean): Option[String]
}

/**
 * What a Hadoop configuration keeps its keys in. A text with a reference becomes its value when it is set. Copies of
 * the configuration copy this too, so that each copy (of a session, a data source, a job) gets values, too.
 *
 * @param texts key to the text that was set, of keys that hold the value of one
 */
private[sparkconfig] final class ReferenceProperties(
    values: HadoopValues,
    copy: Boolean,
    val texts: ConcurrentHashMap[String, String])
  extends Properties {

  /**
   * The lock of the properties is not held over the question: a change that is being published waits for it. If one
   * came in between, the second answer is the newer one.
   */
  override def setProperty(key: String, text: String): AnyRef = values.of(key, text, copy) match {
    case Some(value) =>
      texts.put(key, text)
      val before = super.setProperty(key, value)
      values.of(key, text, copy).filter(_ != value).foreach(update(key, _))
      before
    case None =>
      texts.remove(key)
      super.setProperty(key, text)
  }

  override def remove(key: AnyRef): AnyRef = {
    texts.remove(key)
    super.remove(key)
  }

  def update(key: String, value: String): Unit = { super.put(key, value); () }

  /** Not `putAll`: Scala 2.12 cannot choose between those of Properties and Hashtable. */
  def take(others: Properties): Unit = others.forEach((key: AnyRef, value: AnyRef) => { super.put(key, value); () })

  override def clone(): AnyRef = synchronized {
    val other = new ReferenceProperties(values, copy = true, new ConcurrentHashMap(texts))
    other.take(this)
    other
  }
}
