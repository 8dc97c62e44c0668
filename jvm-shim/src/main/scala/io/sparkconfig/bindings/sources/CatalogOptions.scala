package io.sparkconfig.bindings.sources

import io.sparkconfig.core.{Binding, Bound}

/** The confs of a V2 catalog, `spark.sql.catalog.NAME.KEY`, as the catalog's options. */
object CatalogOptions extends Binding {
  override def name: String = "catalogs"

  override def binds: Seq[Bound] = Seq(
    Bound("catalogs: `spark.sql.catalog.NAME.*`, by conf, builder, `SET` [5]", "yes", "yes"),
    Bound("session confs that hold references and are passed on as options [6]", "yes", "yes"),
    Bound(
      "confs that Spark adds to a V2 source's options, `spark.datasource.PREFIX.*`",
      "yes",
      "yes, sources as in the first row"))

  private val Jdbc = "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog"

  /** The same map if there is nothing to resolve; a JDBC catalog's connections find the rest by themselves. */
  def values(name: String, implementation: String, options: Map[String, String]): Map[String, String] =
    if (!Options.hold(options)) options
    else if (implementation == Jdbc) JdbcOptions.forSpark(s"catalog $name", options)
    else Options.values(s"catalog $name", options)
}
