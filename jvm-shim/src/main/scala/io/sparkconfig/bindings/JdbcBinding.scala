package io.sparkconfig.bindings

import java.sql.{Connection, Driver, SQLException}
import java.util.Properties

import scala.collection.JavaConverters._

import io.sparkconfig.core.{
  Binding,
  Bound,
  ConfLists,
  Expression,
  RefusedConnection,
  SparkConfigException,
  Target,
  Values
}
import org.apache.spark.SparkConf
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
    val first = target(options)
    try connect(driver, first)
    catch {
      case refused: SQLException if first.used.expressions.nonEmpty => afterRefusal(driver, options, first, refused)
    }
  }

  /**
   * A rotation may have overtaken what this process holds: the stores of this connection's references are asked, and
   * only if they have something else it tries again, once, since repeated failures lock accounts.
   */
  private def afterRefusal(
      driver: Driver,
      options: Map[String, String],
      first: Target,
      refused: SQLException): Connection = {
    val suspects = RefusedConnection.suspects(first, refused)
    if (suspects.expressions.isEmpty)
      throw RefusedConnection.error(refused, first, "no store was asked, since no server was reached")
    val second =
      try if (Values.renew(suspects).sameAs(suspects)) first else target(options)
      catch { case e: SparkConfigException => throw RefusedConnection.error(refused, first, e.getMessage) }
    if (second.sameAs(first)) throw RefusedConnection.error(refused, first, "the stores have no newer values")
    log.info("a JDBC connection was refused; trying once more with generation {}", second.used.generation)
    try connect(driver, second)
    catch {
      case again: SQLException => throw RefusedConnection.error(
          again,
          second,
          s"the values from generation ${first.used.generation} were refused before")
    }
  }

  override def modifiesSecurityContext(driver: Driver, options: Map[String, String]): Boolean = false

  private def target(options: Map[String, String]): Target = {
    val parsed = new JDBCOptions(options)
    val parts = parsed.asConnectionProperties.asScala.toMap + (Target.Url -> parsed.url)
    try Target.of(parts, options)
    catch { case e: SparkConfigException => throw unresolved(parts, e) }
  }

  /** An error of Spark's own kind: of others, Spark 4 only says that it could not connect. */
  private def unresolved(parts: Map[String, String], e: SparkConfigException) = {
    val held = parts.collect { case (key, text) if Expression.mayHold(text) => s"'${Target.option(key)}'" }
    new OptionReferenceException(
      s"A connection of the data source 'jdbc' cannot resolve its options ${held.toSeq.sorted.mkString(", ")}: " +
        e.getMessage)
  }

  private def connect(driver: Driver, target: Target): Connection = {
    val properties = new Properties()
    target.properties.foreach { case (key, value) => properties.setProperty(key, value) }
    driver.connect(target.url, properties)
  }
}

object JdbcBinding extends Binding {
  override def name: String = "JDBC connections"

  override def binds: Seq[Bound] = Seq(
    Bound(
      "JDBC: `load()`, `jdbc()`, predicates, write [2]",
      "yes",
      "yes; `dbtable` and `query` by reference as in the row above"))

  /** Spark refuses to choose between two providers for one connection; ours does all that `basic` does. */
  override def prepare(conf: SparkConf): Unit =
    ConfLists.add(conf, "spark.sql.sources.disabledJdbcConnProviderList", "basic")

  /** The provider's name, for the option `connectionProvider`. */
  val Name = "sparkconfig"
}
