package io.sparkconfig.bindings.sources

import java.util.Locale

import scala.util.Try

import io.sparkconfig.core.{Expression, NamedConnections}
import org.apache.spark.sql.execution.datasources.DataSource
import org.apache.spark.sql.execution.datasources.jdbc.JdbcRelationProvider
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sparkconfig.OptionReferenceException

/**
 * Options of Spark's JDBC source. What goes to the database driver (user, password, properties, a URL whose
 * references stand behind its `jdbc:` prefix) stays as it is until [[io.sparkconfig.bindings.JdbcBinding]] opens a
 * connection; what Spark itself reads has to be there before.
 */
private[sparkconfig] object JdbcOptions {

  /** What Spark 3.5 to 4.3 read themselves (`JDBCOptions`), apart from the URL. */
  private val ReadBySpark = Set(
    "dbtable",
    "query",
    "preparequery",
    "driver",
    "partitioncolumn",
    "lowerbound",
    "upperbound",
    "numpartitions",
    "querytimeout",
    "batchsize",
    "fetchsize",
    "truncate",
    "cascadetruncate",
    "createtableoptions",
    "createtablecolumntypes",
    "customschema",
    "sessioninitstatement",
    "pushdownpredicate",
    "pushdownaggregate",
    "pushdownlimit",
    "pushdownoffset",
    "pushdowntablesample",
    "keytab",
    "principal",
    "tablecomment",
    "refreshkrb5config",
    "connectionprovider",
    "prefertimestampntz",
    "hint",
    "isolationlevel")

  def isJdbc(provider: String, conf: SQLConf): Boolean =
    provider.equalsIgnoreCase("jdbc") ||
      Try(DataSource.lookupDataSource(provider, conf)).toOption.exists(classOf[JdbcRelationProvider].isAssignableFrom)

  /**
   * With values where Spark itself reads them, and with the options of the connection that they name. Its name stays:
   * [[io.sparkconfig.bindings.JdbcBinding]] lets the policies compare.
   */
  def forSpark(
      source: String,
      options: Map[String, String],
      access: String = Connections.Read): Map[String, String] = {
    val whole = Connections.expanded(source, options, access)
    val resolved = Options.some(source, whole, key => whole.get(key).exists(readBySpark(key, _)))
    requireLiteralUrl(whole, resolved)
    NamedConnections.nameIn(options).flatMap(NamedConnections.find).foreach(_.became(resolved))
    resolved
  }

  /** A connection resolves its URL where it opens, on executors too: it cannot tell a value from what was written. */
  private def requireLiteralUrl(written: Map[String, String], resolved: Map[String, String]): Unit =
    resolved.foreach { case (key, value) =>
      if (key.equalsIgnoreCase("url") && (value ne written(key)) && Expression.mayHold(value)) {
        throw new OptionReferenceException(
          s"The option '$key' of the data source 'jdbc' holds ${written(key)}, whose value spells a reference " +
            "itself. A URL's value is taken as it is: write the parts that are references into options of their own, " +
            "such as 'user' and 'password', or into the text of the option.")
      }
    }

  private def readBySpark(key: String, text: String): Boolean = key.toLowerCase(Locale.ROOT) match {
    // The dialect and the driver are found by what is before the first reference.
    case "url" => !text.takeWhile(_ != '$').matches("jdbc:[^:]+:.*")
    case other => ReadBySpark(other)
  }
}
