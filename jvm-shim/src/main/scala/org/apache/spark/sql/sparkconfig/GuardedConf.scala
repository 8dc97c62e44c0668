package org.apache.spark.sql.sparkconfig

import java.lang.reflect.Field
import java.util.{AbstractMap, HashMap => JHashMap, Map => JMap, Set => JSet}

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.spark.internal.config.ConfigEntry
import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.sql.internal.SQLConf

/** Is told what a session's confs are about to become, or have become. */
trait ConfGuard {

  /** Before `key` gets `text`; an exception leaves the old value. */
  def setting(key: String, text: String): Unit

  /** Whether it is asked about the text that a key has, too. */
  def isHidden(key: String): Boolean

  /** What stays of a key that is taken away: a statement that runs meanwhile must not miss it. None: nothing. */
  def remaining(key: String): Option[String]

  /** What stays when all keys are. */
  def standing: Map[String, String]

  /** After keys were taken away. What the rules say to that is a matter for the next statement. */
  def removed(): Unit
}

/**
 * The settings of one session. Whichever way a value takes (SET, `spark.conf.set`, Connect's config call, Thrift's
 * session confs), it ends in `put`. The guard is asked without the lock.
 * @param settings the synchronised map of Spark's own, which goes on being used: what another thread puts into it
 *                 while the guard takes its place is not lost
 */
private final class GuardedSettings(val settings: JMap[String, String], val guard: ConfGuard)
  extends AbstractMap[String, String] {

  override def put(key: String, text: String): String = {
    if (text != null && (get(key) != text || guard.isHidden(key))) guard.setting(key, text)
    settings.put(key, text)
  }

  override def get(key: AnyRef): String = settings.get(key)
  override def containsKey(key: AnyRef): Boolean = settings.containsKey(key)
  override def size(): Int = settings.size()

  override def remove(key: AnyRef): String = {
    val before = settings.get(key)
    guard.remaining(key.toString).fold(settings.remove(key))(settings.put(key.toString, _))
    guard.removed()
    before
  }

  override def clear(): Unit = {
    val kept = guard.standing.asJava
    settings.synchronized {
      settings.putAll(kept)
      settings.keySet.retainAll(kept.keySet)
    }
    guard.removed()
  }

  /** A copy, since Spark iterates under the lock of this map and not of the other. */
  override def entrySet(): JSet[JMap.Entry[String, String]] = settings.synchronized {
    java.util.Collections.unmodifiableSet(new JHashMap[String, String](settings).entrySet())
  }
}

/** Puts [[GuardedSettings]] into a session's SQLConf: there is no public way to observe a change of it. */
object GuardedConf {

  /** @return whether this call did it: false if the session has a guard already */
  def install(conf: SQLConf, guard: ConfGuard): Boolean = conf.synchronized {
    settings(conf) match {
      case _: GuardedSettings => false
      case plain =>
        val guarded = new GuardedSettings(plain, guard)
        SettingsField.get(conf) match {
          case outer: ConnectorSettings => outer.below = guarded
          case _ => put(conf, guarded)
        }
        true
    }
  }

  /** Puts a map around the session's settings; the same one is left where it is. */
  private[sparkconfig] def wrap(conf: SQLConf)(around: JMap[String, String] => JMap[String, String]): Unit =
    conf.synchronized {
      val before = SettingsField.get(conf).asInstanceOf[JMap[String, String]]
      val after = around(before)
      if (after ne before) put(conf, after)
    }

  private def put(conf: SQLConf, settings: JMap[String, String]): Unit = {
    SettingsField.set(conf, settings)
    // The reader of registered entries captured the old map.
    val reader = Reflect.field(classOf[SQLConf], "reader").get(conf)
    val provider = Reflect.get(reader, "conf")
    Reflect.field(provider.getClass, "conf").set(provider, settings)
  }

  def guard(conf: SQLConf): Option[ConfGuard] = settings(conf) match {
    case guarded: GuardedSettings => Some(guarded.guard)
    case _ => None
  }

  /** The session's confs as texts; references stay references. */
  def texts(conf: SQLConf): Map[String, String] = {
    val map = settings(conf)
    map.synchronized(map.asScala.toMap)
  }

  /** What Spark takes for a key that the session does not have. */
  def default(conf: SQLConf, key: String): Option[String] =
    Option(ConfigEntry.findEntry(key)).flatMap(_ => Try(conf.getConfString(key)).toOption)

  /** What it takes for one that no session has. */
  def default(key: String): Option[String] = default(new SQLConf, key)

  /** Puts texts back, or takes keys away, without asking the guard. */
  def restore(conf: SQLConf, texts: Map[String, Option[String]]): Unit = texts.foreach { case (key, text) =>
    restore(settings(conf), key, text)
  }

  private[sparkconfig] def restore(settings: JMap[String, String], key: String, text: Option[String]): Unit = {
    val unchecked = settings match {
      case guarded: GuardedSettings => guarded.settings
      case plain => plain
    }
    text match {
      case Some(before) => unchecked.put(key, before): Unit
      case None => unchecked.remove(key): Unit
    }
  }

  private def settings(conf: SQLConf): JMap[String, String] = SettingsField.get(conf) match {
    case outer: ConnectorSettings => outer.below
    case plain => plain.asInstanceOf[JMap[String, String]]
  }

  private lazy val SettingsField: Field = Reflect.field(classOf[SQLConf], "settings")
}
