package io.sparkconfig.policy.doors

import java.util.ServiceLoader

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
      Try(each.getClass.getName -> folded(each.shortName)).toOption).toMap
  }.getOrElse(Map.empty)

  private lazy val shortNames = registered.values.toSet

  /** The name as it was written, and the short name of the class behind it if that is another one. */
  def of(name: String): Seq[String] = {
    val plain = folded(name)
    Seq(plain) ++ shortName(name.trim).filter(_ != plain)
  }

  /** The same for an object of Spark's or a source's: its own class, or that around it. */
  def of(made: AnyRef): Seq[String] = of(made.getClass.getName.takeWhile(_ != '$')) ++ (made match {
    case source: DataSourceRegister => Seq(folded(source.shortName))
    case _ => Nil
  })

  /** Whether a data source may be called so. */
  def exists(name: String): Boolean =
    name.contains(".") || shortNames(folded(name)) || Try(loader.loadClass(name.trim)).isSuccess

  /** Spark's own: their tables' properties are notes to the catalog, and a place is what it says. */
  def isSparks(name: String): Boolean = of(name).exists(OfSpark)

  private val OfSpark =
    Set("avro", "binaryfile", "csv", "hive", "jdbc", "json", "orc", "parquet", "text", "xml")

  private def shortName(kind: String): Option[String] =
    registered.get(kind).orElse(registered.get(kind + Default)).orElse(kind.stripSuffix(Default) match {
      case Moved(short) => Some(folded(short))
      case _ => None
    })

  /** As Spark compares names of sources, with equalsIgnoreCase: a dotless i is an i to it. */
  private def folded(name: String): String =
    name.trim.map(each => Character.toLowerCase(Character.toUpperCase(each)))

  private def loader: ClassLoader =
    Option(Thread.currentThread.getContextClassLoader).getOrElse(getClass.getClassLoader)
}
