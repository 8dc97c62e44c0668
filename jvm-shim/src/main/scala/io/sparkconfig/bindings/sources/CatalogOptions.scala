package io.sparkconfig.bindings.sources

/** The confs of a V2 catalog, `spark.sql.catalog.NAME.KEY`, as the catalog's options. */
object CatalogOptions {
  private val Jdbc = "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog"

  /** The same map if there is nothing to resolve; a JDBC catalog's connections find the rest by themselves. */
  def values(name: String, implementation: String, options: Map[String, String]): Map[String, String] =
    if (!Options.hold(options)) options
    else if (implementation == Jdbc) JdbcOptions.forSpark(s"catalog $name", options)
    else Options.values(s"catalog $name", options)
}
