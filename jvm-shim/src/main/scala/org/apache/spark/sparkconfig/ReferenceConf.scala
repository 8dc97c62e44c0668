package org.apache.spark.sparkconfig

import java.util.concurrent.ConcurrentHashMap
import java.util.{Collections, HashMap => JHashMap, Map => JMap, Set => JSet}

import org.apache.spark.SparkConf
import org.apache.spark.sparkconfig.access.{ConnectorCode, Reflect}

/**
 * The settings of a SparkConf whose references stay: `get` answers the value, every enumeration (getAll, clone,
 * the environment page, what executors are sent) returns the reference, unless a connector asks for its own.
 *
 * @param value the current value of a key's text; None when the text holds no reference of ours
 * @param connectors who gets values from enumerations
 * @param beforeThem what to do before a connector gets its own
 */
private final class ReferenceSettings(
    settings: ConcurrentHashMap[String, String],
    value: (String, String) => Option[String],
    connectors: ConnectorCode,
    beforeThem: () => Unit)
  extends ConcurrentHashMap[String, String](settings) {

  override def get(key: AnyRef): String = {
    val text = super.get(key)
    if (text == null || text.indexOf('$') < 0) text
    else value(key.asInstanceOf[String], text).getOrElse(text)
  }

  override def getOrDefault(key: AnyRef, default: String): String = {
    val found = get(key)
    if (found == null) default else found
  }

  override def entrySet(): JSet[JMap.Entry[String, String]] = {
    val theirs = connectorsEntries()
    if (theirs.isEmpty) super.entrySet() else theirs.get
  }

  /** For a connector, a copy with the values under its own prefixes. */
  private def connectorsEntries(): Option[JSet[JMap.Entry[String, String]]] = {
    val all = super.entrySet()
    var held = false
    val looked = all.iterator()
    while (!held && looked.hasNext) {
      val entry = looked.next(); held = connectors.mayHave(entry.getKey, entry.getValue)
    }
    val prefixes = if (held) connectors.asking() else Nil
    if (prefixes.isEmpty) None
    else {
      beforeThem()
      val copy = new JHashMap[String, String]()
      val entries = all.iterator()
      while (entries.hasNext) {
        val entry = entries.next()
        val own = prefixes.exists(entry.getKey.startsWith) && connectors.mayHave(entry.getKey, entry.getValue)
        copy.put(
          entry.getKey,
          if (own) value(entry.getKey, entry.getValue).getOrElse(entry.getValue) else entry.getValue)
      }
      Some(Collections.unmodifiableMap[String, String](copy).entrySet())
    }
  }

  /** A serialised conf carries references. */
  private def writeReplace(): AnyRef = {
    val plain = new ConcurrentHashMap[String, String]()
    val entries = super.entrySet().iterator()
    while (entries.hasNext) { val entry = entries.next(); plain.put(entry.getKey, entry.getValue) }
    plain
  }
}

/** Puts [[ReferenceSettings]] into a SparkConf: there is no public way to observe a read. */
object ReferenceConf {

  /**
   * @throws IllegalStateException when this Spark's SparkConf has another shape than the ones known (3.5 to 4.3)
   */
  def install(
      conf: SparkConf,
      value: (String, String) => Option[String],
      connectors: ConnectorCode = ConnectorCode.Nobody,
      beforeThem: () => Unit = () => ()): Unit = {
    val settings = Reflect.field(classOf[SparkConf], "settings")
    settings.get(conf) match {
      case plain: ConcurrentHashMap[_, _] =>
        val references =
          new ReferenceSettings(plain.asInstanceOf[ConcurrentHashMap[String, String]], value, connectors, beforeThem)
        settings.set(conf, references)
        // The reader of registered entries captured the old map if anything was read before.
        val reader = Reflect.field(classOf[SparkConf], "reader").get(conf)
        if (reader != null) {
          val provider = Reflect.get(reader, "conf")
          Reflect.field(provider.getClass, "conf").set(provider, references)
        }
      case other => throw new IllegalStateException(s"SparkConf.settings is a ${other.getClass.getName}")
    }
  }
}
