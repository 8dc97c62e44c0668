package org.apache.spark.sql.sparkconfig

import java.util.WeakHashMap
import java.util.regex.Pattern

import scala.collection.mutable

import org.apache.spark.sql.connector.catalog.{CatalogExtension, CatalogPlugin, Catalogs}
import org.slf4j.LoggerFactory

/**
 * The catalogs of one session. Spark guards it with the catalog manager's lock.
 *
 * A catalog whose values have changed is loaded anew at its next lookup. The old one is not closed: queries and frames
 * that began with it still use it.
 *
 * @param builtIn Spark's own session catalog
 */
private final class ResolvingCatalogs(
    session: Sessions.Spark,
    valuesOf: CatalogHook.Values,
    builtIn: () => CatalogPlugin)
  extends mutable.HashMap[String, CatalogPlugin] {
  import ResolvingCatalogs._

  /** Those that were loaded with values. */
  private val loaded = mutable.HashMap[String, Loaded]()
  private val names = new WeakHashMap[CatalogPlugin, String]()

  override def getOrElseUpdate(name: String, load: => CatalogPlugin): CatalogPlugin = get(name) match {
    case Some(catalog) => loaded.get(name) match {
        case Some(known) if known.catalog eq catalog => newest(name, known)
        case _ => catalog
      }
    case None =>
      val conf = Sessions.classic(session).sessionState.conf
      val key = Pattern.compile(prefix(name) + "(.+)")
      val options = conf.getAllConfs.flatMap { case (conf, text) =>
        val matched = key.matcher(conf)
        if (matched.find()) Some(matched.group(1) -> text) else None
      }
      val implementation = conf.getConfString("spark.sql.catalog." + name, "")
      // Before the values, which may be newer.
      val generation = valuesOf.generation
      val values = valuesOf(name, implementation, options)
      if (values eq options) super.getOrElseUpdate(name, load)
      else loadWith(name, new Loaded(implementation, options, values, generation))
  }

  /** The one that took the place of a catalog of this session, if any did. */
  def successor(catalog: CatalogPlugin): Option[CatalogPlugin] =
    for {
      name <- Option(names.get(catalog))
      known <- loaded.get(name)
      now = newest(name, known)
      if now ne catalog
    } yield now

  private def newest(name: String, known: Loaded): CatalogPlugin = {
    val generation = valuesOf.generation
    if (known.generation != generation && !valuesOf.areNewest(known.options, known.values)) {
      val values = valuesOf(name, known.implementation, known.options)
      if (values != known.values) {
        log.info("the values of catalog {} have changed; loading it again", name)
        return loadWith(name, new Loaded(known.implementation, known.options, values, generation))
      }
    }
    known.generation = generation
    known.catalog
  }

  private def loadWith(name: String, made: Loaded): CatalogPlugin = {
    val conf = Sessions.classic(session).sessionState.conf.clone()
    // Only what was there when it was first loaded: Spark never looks again, either.
    val key = Pattern.compile(prefix(name) + ".+")
    conf.getAllConfs.keys.filter(key.matcher(_).find()).foreach(conf.unsetConf(_: String))
    conf.setConfString("spark.sql.catalog." + name, made.implementation)
    made.values.foreach { case (key, value) => conf.setConfString(s"spark.sql.catalog.$name.$key", value) }
    made.catalog = Catalogs.load(name, conf)
    delegate(name, made.catalog)
    loaded.put(name, made)
    names.put(made.catalog, name)
    put(name, made.catalog)
    made.catalog
  }

  /** What `CatalogManager.loadV2SessionCatalog` does after loading: an extension works through Spark's own catalog. */
  private def delegate(name: String, catalog: CatalogPlugin): Unit = catalog match {
    case extension: CatalogExtension if name == SessionCatalog => extension.setDelegateCatalog(builtIn())
    case _ => ()
  }
}

private object ResolvingCatalogs {
  private val log = LoggerFactory.getLogger(classOf[ResolvingCatalogs])
  private val SessionCatalog = "spark_catalog"

  private def prefix(name: String): String = "^spark\\.sql\\.catalog\\." + Pattern.quote(name) + "\\."

  /**
   * Never a case class, which would show the values.
   *
   * @param options as they were written when it was first loaded
   * @param generation the last one that was found to hold the same values
   */
  private final class Loaded(
      val implementation: String,
      val options: Map[String, String],
      val values: Map[String, String],
      var generation: Long) {
    var catalog: CatalogPlugin = _
  }
}
