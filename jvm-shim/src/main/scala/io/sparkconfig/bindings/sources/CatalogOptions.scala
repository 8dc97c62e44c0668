package io.sparkconfig.bindings.sources

import io.sparkconfig.core.{
  Binding,
  Bound,
  Expression,
  NamedConnections,
  PolicyRefusedException,
  ReferenceUrl,
  SparkConfigException,
  Values
}
import org.apache.spark.sql.sparkconfig.{CatalogHook, OptionReferenceException}

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

  /** Keys of such options stand behind its name and a dot. */
  private val Credentials = "client.credentials-provider"
  private val ReferenceCredentials = "io.sparkconfig.aws.ReferenceCredentials"

  /** Of Iceberg's REST catalogs. */
  private val Auth = "rest.auth.type"
  private val Token = "token"
  private val ReferenceTokens = "io.sparkconfig.iceberg.ReferenceTokens"

  /** A JDBC catalog's connections find by themselves what Spark does not read. */
  override def apply(name: String, implementation: String, options: Map[String, String]): Map[String, String] =
    if (!Options.hold(options)) options
    else if (implementation == Jdbc) {
      // What the catalog will be used for is not known here: it is for users who may both read and write.
      Connections.expanded("jdbc", options, Connections.Write)
      JdbcOptions.forSpark(if (NamedConnections.isNamed(options)) "jdbc" else s"catalog $name", options)
    } else {
      // A session's confs may have changed since each of them was set.
      try if (!NamedConnections.isNamed(options)) Values.allowConnection(Seq("iceberg"), options)
      catch {
        case e: SparkConfigException => throw new OptionReferenceException(
            s"The catalog '$name': ${e.getMessage}",
            isRefusal = e.isInstanceOf[PolicyRefusedException])
      }
      Options.some(s"catalog $name", options, key => !isLate(key, options))
    }

  /** What the catalog hands on to one of our own doors, which asks at each use: it stays a reference. */
  private def isLate(key: String, options: Map[String, String]): Boolean =
    if (key == Token) options.get(Auth).contains(ReferenceTokens)
    else if (key.startsWith(Credentials + ".")) options.get(Credentials).contains(ReferenceCredentials)
    else (Urls(key) || key.startsWith("jdbc.")) && Urls.exists(options.get(_).exists(ReferenceUrl.is))

  private val Urls = Set("uri", "url")

  override def generation: Long = Values.snapshot.generation

  override def areNewest(options: Map[String, String], values: Map[String, String]): Boolean = {
    val held = Values.snapshot
    options.forall { case (key, text) =>
      !Expression.mayHold(text) || values(key) == text ||
      held.get(Expression.of(text, options)).contains(values(key))
    }
  }
}
