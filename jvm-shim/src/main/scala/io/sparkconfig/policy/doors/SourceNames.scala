package io.sparkconfig.policy.doors

import java.util.{Locale, ServiceLoader}

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.spark.sql.sources.DataSourceRegister

/** Data sources under the names that rules see. Spark's own look-up would load classes and start Python. */
private[doors] object SourceNames {
  private val Default = ".DefaultSource"

  /** Packages of sources that moved, under whose names Spark still finds them. */
  private val Moved =
    "(?:org\\.apache\\.spark\\.sql(?:\\.hive|\\.execution\\.datasources)?|com\\.databricks\\.spark)\\.(\\w+)".r

  /** Class to short name. */
  private lazy val registered: Map[String, String] = Try {
    ServiceLoader.load(classOf[DataSourceRegister], loader).iterator.asScala.flatMap(each =>
      Try(each.getClass.getName -> each.shortName.toLowerCase(Locale.ROOT)).toOption).toMap
  }.getOrElse(Map.empty)

  private lazy val shortNames = registered.values.toSet

  /** The name as it was written, and the short name of the class behind it if that is another one. */
  def of(name: String): Seq[String] = {
    val plain = name.trim.toLowerCase(Locale.ROOT)
    Seq(plain) ++ shortName(name.trim).filter(_ != plain)
  }

  /** The same for an object of Spark's or a source's: its own class, or that around it. */
  def of(made: AnyRef): Seq[String] = of(made.getClass.getName.takeWhile(_ != '$')) ++ (made match {
    case source: DataSourceRegister => Seq(source.shortName.toLowerCase(Locale.ROOT))
    case _ => Nil
  })

  /** Whether a data source may be called so. */
  def exists(name: String): Boolean =
    name.contains(".") || shortNames(name.trim.toLowerCase(Locale.ROOT)) || Try(loader.loadClass(name.trim)).isSuccess

  private def shortName(kind: String): Option[String] =
    registered.get(kind).orElse(registered.get(kind + Default)).orElse(kind.stripSuffix(Default) match {
      case Moved(short) => Some(short.toLowerCase(Locale.ROOT))
      case _ => None
    })

  private def loader: ClassLoader =
    Option(Thread.currentThread.getContextClassLoader).getOrElse(getClass.getClassLoader)
}
