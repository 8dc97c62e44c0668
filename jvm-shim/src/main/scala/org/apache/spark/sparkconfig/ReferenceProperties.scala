package org.apache.spark.sparkconfig

import java.util.concurrent.ConcurrentHashMap
import java.util.{Map => JMap, Properties, Set => JSet}

import org.apache.spark.sparkconfig.access.HadoopValues

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

  /** What has no value, of a copy: a session is made with it, and who reads the key, or all keys, gets the error. */
  private val refused = new ConcurrentHashMap[String, String]()

  /**
   * The lock of the properties is not held over the question: a change that is being published waits for it. If one
   * came in between, the second answer is the newer one.
   */
  override def setProperty(key: String, text: String): AnyRef =
    try resolved(key, text)
    catch { case _: RuntimeException if copy => val before = remove(key); refused.put(key, text); before }

  private def resolved(key: String, text: String): AnyRef = {
    val value = values.of(key, text, copy)
    refused.remove(key)
    value match {
      case Some(first) =>
        texts.put(key, text)
        val before = super.setProperty(key, first)
        values.of(key, text, copy).filter(_ != first).foreach(update(key, _))
        before
      case None =>
        texts.remove(key)
        super.setProperty(key, text)
    }
  }

  override def getProperty(key: String): String = {
    if (!refused.isEmpty && refused.containsKey(key)) resolved(key, refused.get(key))
    super.getProperty(key)
  }

  /** As it travels to executors. */
  override def entrySet(): JSet[JMap.Entry[AnyRef, AnyRef]] = {
    refused.forEach((key: String, text: String) => { resolved(key, text); () })
    super.entrySet()
  }

  override def remove(key: AnyRef): AnyRef = {
    texts.remove(key)
    refused.remove(key)
    super.remove(key)
  }

  def update(key: String, value: String): Unit = { super.put(key, value); () }

  /** Not `putAll`: Scala 2.12 cannot choose between those of Properties and Hashtable. */
  def take(others: Properties): Unit = others.forEach((key: AnyRef, value: AnyRef) => { super.put(key, value); () })

  override def clone(): AnyRef = synchronized {
    val other = new ReferenceProperties(values, copy = true, new ConcurrentHashMap(texts))
    other.take(this)
    other.refused.putAll(refused)
    other
  }
}
