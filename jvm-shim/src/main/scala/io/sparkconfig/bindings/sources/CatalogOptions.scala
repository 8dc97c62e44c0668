package io.sparkconfig.bindings.sources

import io.sparkconfig.core.{Binding, Bound, Expression, Values}
import org.apache.spark.sql.sparkconfig.CatalogHook

/** The confs of a V2 catalog, `spark.sql.catalog.NAME.KEY`, as the catalog's options. */
object CatalogOptions extends Binding with CatalogHook.Values {
  override def name: String = "catalogs"

  override def binds: Seq[Bound] = Seq(
    Bound("catalogs: `spark.sql.catalog.NAME.*`, by conf, builder, `SET` [5]", "yes", "yes"),
    Bound("session confs that hold references and are passed on as options [6]", "yes", "yes"),
    Bound(
      "confs that Spark adds to a V2 source's options, `spark.datasource.PREFIX.*`",
      "yes",
      "yes, sources as in the first row"))

  private val Jdbc = "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog"

  /** A JDBC catalog's connections find by themselves what Spark does not read. */
  override def apply(name: String, implementation: String, options: Map[String, String]): Map[String, String] =
    if (!Options.hold(options)) options
    else if (implementation == Jdbc) JdbcOptions.forSpark(s"catalog $name", options)
    else Options.values(s"catalog $name", options)

  override def generation: Long = Values.snapshot.generation

  override def areNewest(options: Map[String, String], values: Map[String, String]): Boolean = {
    val held = Values.snapshot
    options.forall { case (key, text) =>
      !Expression.mayHold(text) || values(key) == text ||
        held.get(Expression.of(text, options)).contains(values(key))
    }
  }
}
