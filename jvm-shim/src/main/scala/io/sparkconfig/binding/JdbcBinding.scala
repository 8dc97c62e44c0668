package io.sparkconfig.binding

import java.sql.{Connection, Driver, SQLException}
import java.util.Properties

import scala.collection.JavaConverters._

import io.sparkconfig.SparkConfigException
import io.sparkconfig.files.FilePlacementException
import org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions
import org.apache.spark.sql.jdbc.JdbcConnectionProvider
import org.apache.spark.sql.sparkconfig.OptionReferenceException
import org.slf4j.LoggerFactory

/**
 * Opens JDBC connections with values in place of references, on the driver and on executors, at each connection
 * anew. Plans, tasks and catalogs keep the references.
 *
 * It takes the place of Spark's `basic` provider, which the plugin disables: Spark refuses to choose between two
 * providers that can handle a connection. Kerberos connections stay with Spark's own providers.
 *
 * @see org.apache.spark.sql.execution.datasources.jdbc.connection.BasicConnectionProvider, whose rule for
 *      `canHandle` and whose way to connect these are
 */
class JdbcBinding extends JdbcConnectionProvider {
  private val log = LoggerFactory.getLogger(classOf[JdbcBinding])

  override val name: String = JdbcBinding.Name

  /** Not without the plugin: a jar that only lies on the class path must not compete with `basic`. */
  override def canHandle(driver: Driver, options: Map[String, String]): Boolean = Values.isInstalled && {
    val parsed = new JDBCOptions(options)
    parsed.keytab == null || parsed.principal == null
  }

  override def getConnection(driver: Driver, options: Map[String, String]): Connection = {
    val first = credentials(options)
    try connect(driver, first)
    catch {
      // A rotation may have overtaken this process's snapshot: ask for news once, and only if that changes
      // something try again, since repeated failures lock accounts.
      case refused: SQLException =>
        val second = if (Values.isInstalled && holdsReference(options)) afterRefresh(options) else first
        if (second == first) throw refused
        log.info("a JDBC connection was refused; trying once more with generation {}", Values.snapshot.generation)
        connect(driver, second)
    }
  }

  override def modifiesSecurityContext(driver: Driver, options: Map[String, String]): Boolean = false

  private def afterRefresh(options: Map[String, String]) = {
    try Values.refresh()
    catch { case _: FilePlacementException => () } // it is logged; what is held serves
    credentials(options)
  }

  private def holdsReference(options: Map[String, String]): Boolean =
    options.values.exists(Expression.mayHold)

  /** URL and driver properties with values: a case class would show them, so a plain pair. */
  private def credentials(options: Map[String, String]): (String, Map[String, String]) = {
    val parsed = new JDBCOptions(options)
    // In one map, so that the parts of one connection come from one generation.
    val parts = parsed.asConnectionProperties.asScala.toMap + (JdbcBinding.UrlEntry -> parsed.url)
    val resolved =
      try Values.resolveMap(parts, options)
      catch { case e: SparkConfigException => throw unresolved(parts, e) }
    (resolved(JdbcBinding.UrlEntry), resolved - JdbcBinding.UrlEntry)
  }

  /** An error of Spark's own kind: of others, Spark 4 only says that it could not connect. */
  private def unresolved(parts: Map[String, String], e: SparkConfigException) = {
    val held = parts.collect { case (key, text) if Expression.mayHold(text) =>
      s"'${if (key == JdbcBinding.UrlEntry) JDBCOptions.JDBC_URL else key}'"
    }
    new OptionReferenceException(
      s"A connection of the data source 'jdbc' cannot resolve its options ${held.toSeq.sorted.mkString(", ")}: " +
        e.getMessage)
  }

  private def connect(driver: Driver, target: (String, Map[String, String])): Connection = {
    val properties = new Properties()
    target._2.foreach { case (key, value) => properties.setProperty(key, value) }
    driver.connect(target._1, properties)
  }
}

object JdbcBinding {
  /** The provider's name, for the option `connectionProvider`. */
  val Name = "sparkconfig"

  /** No driver property has an empty name. */
  private val UrlEntry = ""
}
