package org.apache.spark.sql.sparkconfig

import java.lang.reflect.Field
import java.util.regex.Pattern

import scala.collection.mutable

import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.sql.connector.catalog.{CatalogExtension, CatalogPlugin, Catalogs}

/**
 * Catalogs (`spark.sql.catalog.NAME`) are loaded with values in place of the references in their confs, whenever
 * and by whomever they are loaded. There is no public way: a session keeps its loaded catalogs in a map, and this
 * puts one in its place that knows how to load.
 */
object CatalogHook {

  /** A catalog's name, its class and its options to the options with values: the same map if there is nothing to do. */
  type Values = (String, String, Map[String, String]) => Map[String, String]

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

  /** The session catalog that Spark brings, which a catalog named `spark_catalog` may extend. */
  private def builtIn(manager: AnyRef): CatalogPlugin =
    Reflect.get(manager, "defaultSessionCatalog").asInstanceOf[CatalogPlugin]

  // In 4.3 the class is DefaultCatalogManager.
  private def field(manager: Class[_]): Field = Fields.get(manager)

  private object Fields extends ClassValue[Field] {
    override def computeValue(manager: Class[_]): Field = Reflect.field(manager, "catalogs")
  }
}

/**
 * The catalogs of one session. Spark guards it with the catalog manager's lock.
 *
 * @param builtIn Spark's own session catalog
 */
private final class ResolvingCatalogs(
    session: Sessions.Spark,
    valuesOf: CatalogHook.Values,
    builtIn: () => CatalogPlugin)
  extends mutable.HashMap[String, CatalogPlugin] {

  override def getOrElseUpdate(name: String, load: => CatalogPlugin): CatalogPlugin = get(name) match {
    case Some(loaded) => loaded
    case None =>
      val conf = Sessions.classic(session).sessionState.conf
      val prefix = Pattern.compile("^spark\\.sql\\.catalog\\." + Pattern.quote(name) + "\\.(.+)")
      val options = conf.getAllConfs.flatMap { case (key, text) =>
        val matched = prefix.matcher(key)
        if (matched.find()) Some(matched.group(1) -> text) else None
      }
      val values = valuesOf(name, conf.getConfString("spark.sql.catalog." + name, ""), options)
      if (values eq options) super.getOrElseUpdate(name, load)
      else {
        val resolved = conf.clone()
        values.foreach { case (key, value) => resolved.setConfString(s"spark.sql.catalog.$name.$key", value) }
        val catalog = Catalogs.load(name, resolved)
        delegate(name, catalog)
        put(name, catalog)
        catalog
      }
  }

  /** What `CatalogManager.loadV2SessionCatalog` does after loading: an extension works through Spark's own catalog. */
  private def delegate(name: String, catalog: CatalogPlugin): Unit = catalog match {
    case extension: CatalogExtension if name == ResolvingCatalogs.SessionCatalog =>
      extension.setDelegateCatalog(builtIn())
    case _ => ()
  }
}

private object ResolvingCatalogs {
  private val SessionCatalog = "spark_catalog"
}
