package org.apache.spark.sql.sparkconfig

import java.lang.reflect.Field
import java.util.stream.{Stream => JStream}
import java.util.{AbstractSet, HashSet => JHashSet, Iterator => JIterator, Set => JSet}

import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.sql.internal.SQLConf

/**
 * Conf keys whose value is in the SparkConf itself. A session's builder keeps its own copy of what it was given,
 * and Spark would put the reference over the value: when a session begins, and again at each `getOrCreate`. Nothing
 * can be hooked in between, so for sessions these keys are static confs, which Spark takes from the SparkConf alone.
 * A job may still set them in its own session, as it may without us.
 */
object InPlaceConfs {
  private var keys = Set.empty[String]

  /** Keys that Spark SQL declares itself stay as they are: it sets some of them in the middle of a query. */
  def hold(inPlace: Iterable[String]): Unit = synchronized {
    keys = inPlace.filterNot(key => SQLConf.containsConfigKey(key) || SQLConf.isStaticConfigKey(key)).toSet
  }

  /**
   * Called before each session begins, since others add static confs too.
   *
   * @throws IllegalStateException this Spark keeps its static confs in another way than the ones known (3.5 to 4.3)
   */
  def beforeSession(): Unit = synchronized {
    if (keys.nonEmpty) replace {
      case known: StaticKeys => known
      case others => new StaticKeys(without(others), keys)
    }
  }

  /** The application ends; the next one in this JVM may set these keys. */
  def release(): Unit = synchronized {
    if (keys.nonEmpty) {
      replace(without)
      keys = Set.empty
    }
  }

  private def without(all: JSet[String]): JSet[String] = {
    val others = new JHashSet[String](all)
    keys.foreach(others.remove(_))
    others
  }

  /** Spark has a call to add a static conf, and none to take it away. */
  private def replace(change: JSet[String] => JSet[String]): Unit = {
    val set = field("staticConfKeys")
    field("staticConfKeysUpdateLock").get(SQLConf).synchronized {
      set.set(SQLConf, change(set.get(SQLConf).asInstanceOf[JSet[String]]))
    }
  }

  private def field(name: String): Field = Reflect.field(SQLConf.getClass, name)
}

/**
 * Spark's static confs and ours. Two do not see ours: the state that sessions share, which takes static confs from the
 * builder's options, and `spark.conf.set` and `SET`, which refuse static confs.
 */
private final class StaticKeys(others: JSet[String], ours: Set[String]) extends AbstractSet[String] {
  override def contains(key: AnyRef): Boolean =
    others.contains(key) || (ours.exists(_ == key) && !StaticKeys.askedBySharedStateOrJob)

  override def size(): Int = others.size + ours.size

  override def iterator(): JIterator[String] = {
    val all = new JHashSet[String](others)
    ours.foreach(all.add(_))
    all.iterator()
  }
}

private object StaticKeys {
  private val Package = "org.apache.spark.sql."
  private val Depth = 16L
  private val walker = StackWalker.getInstance()

  private def askedBySharedStateOrJob: Boolean =
    walker.walk[java.lang.Boolean] { (frames: JStream[StackWalker.StackFrame]) =>
      frames.limit(Depth).anyMatch(frame => isOne(frame.getClassName))
    }

  /** RuntimeConfig is `spark.conf`; its package differs between Spark 3.5 and 4. */
  private def isOne(name: String): Boolean =
    name.startsWith(Package) && (name.contains(".SharedState") || name.contains(".RuntimeConfig"))
}
