package org.apache.spark.sql.sparkconfig

import java.lang.reflect.Field

import scala.collection.mutable

import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.sql.connector.catalog.CatalogPlugin

/**
 * Catalogs (`spark.sql.catalog.NAME`) are loaded with values in place of the references in their confs, whenever
 * and by whomever they are loaded, and loaded again when these values change. There is no public way: a session
 * keeps its loaded catalogs in a map, and this puts one in its place that knows how to load.
 */
object CatalogHook {

  /** What a catalog's options are worth. */
  trait Values {

    /** The options of a catalog with values: the same map if there is nothing to do. May ask the stores. */
    def apply(name: String, implementation: String, options: Map[String, String]): Map[String, String]

    /** Which generation of values this process holds; no question is asked. */
    def generation: Long

    /** Whether `values` are those that this process holds for `options`; no question is asked. */
    def areNewest(options: Map[String, String], values: Map[String, String]): Boolean
  }

  /** Idempotent, and cheap once it is done. */
  def install(session: Sessions.Spark, values: Values): Unit = {
    val manager = Sessions.catalogManager(session)
    val catalogs = field(manager.getClass)
    catalogs.get(manager) match {
      case _: ResolvingCatalogs =>
      case loaded: mutable.HashMap[_, _] => manager.synchronized {
          val resolving = new ResolvingCatalogs(session, values, () => builtIn(manager))
          resolving ++= loaded.asInstanceOf[mutable.HashMap[String, CatalogPlugin]]
          catalogs.set(manager, resolving)
        }
      case other => throw new IllegalStateException(s"CatalogManager.catalogs is a ${other.getClass.getName}")
    }
  }

  def currentCatalog(session: Sessions.Spark): String = {
    val manager = Sessions.catalogManager(session)
    manager.getClass.getMethod("currentCatalog").invoke(manager).asInstanceOf[CatalogPlugin].name
  }

  /** The catalog that took the place of another one of this session, whose values have changed since. */
  def successor(session: Sessions.Spark, catalog: CatalogPlugin): Option[CatalogPlugin] = {
    val manager = Sessions.catalogManager(session)
    field(manager.getClass).get(manager) match {
      case resolving: ResolvingCatalogs => manager.synchronized(resolving.successor(catalog))
      case _ => None
    }
  }

  /** The session catalog that Spark brings, which a catalog named `spark_catalog` may extend. */
  private def builtIn(manager: AnyRef): CatalogPlugin =
    Reflect.get(manager, "defaultSessionCatalog").asInstanceOf[CatalogPlugin]

  // In 4.3 the class is DefaultCatalogManager.
  private def field(manager: Class[_]): Field = Fields.get(manager)

  private object Fields extends ClassValue[Field] {
    override def computeValue(manager: Class[_]): Field = Reflect.field(manager, "catalogs")
  }
}
