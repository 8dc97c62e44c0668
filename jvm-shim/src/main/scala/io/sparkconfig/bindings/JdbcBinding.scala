package io.sparkconfig.bindings

import java.sql.{Connection, Driver}

import io.sparkconfig.core.{
  Binding,
  Bound,
  ConfLists,
  Expression,
  NamedConnections,
  PolicyRefusedException,
  ReferenceUrl,
  SparkConfigException,
  Target,
  Values
}
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.jdbc.JdbcConnectionProvider
import org.apache.spark.sql.sparkconfig.OptionReferenceException
import org.apache.spark.{SparkConf, SparkEnv}

/**
 * Puts values in place of references each time that a JDBC connection opens, on the driver and on executors.
 * Plans, tasks and catalogs keep the references.
 *
 * It replaces Spark's `basic` provider, which the plugin disables: Spark refuses to choose between two
 * providers that can handle a connection. Kerberos connections stay with Spark's own providers.
 *
 * @see org.apache.spark.sql.execution.datasources.jdbc.connection.BasicConnectionProvider, whose rule for
 *      `canHandle` and whose way to connect these are
 */
class JdbcBinding extends JdbcConnectionProvider {
  override val name: String = JdbcBinding.Name

  /**
   * Not without the plugin: a jar that only lies on the class path must not compete with `basic`. Spark parses all
   * options for these two, each time that a connection opens; their names are enough.
   */
  override def canHandle(driver: Driver, options: Map[String, String]): Boolean =
    Values.isInstalled && {
      val kerberos = JdbcBinding.has(options, JDBCOptions.JDBC_KEYTAB) &&
        JdbcBinding.has(options, JDBCOptions.JDBC_PRINCIPAL)
      // Spark asks every provider about each connection, whichever opens it.
      if (kerberos || JdbcBinding.has(options, JDBCOptions.JDBC_CONNECTION_PROVIDER))
        JdbcBinding.allow(driver.getClass.getName, ConnectionParts.of(options), options)
      !kerberos
    }

  override def getConnection(driver: Driver, options: Map[String, String]): Connection = {
    val written = ConnectionParts.of(options)
    JdbcBinding.allow(driver.getClass.getName, written, options)
    val parts = NamedConnections.withoutKey(written)
    LateConnection.open(target(parts, options)) { target =>
      // Its URL has values by now: what they hold is not looked at for references again.
      if (ReferenceUrl.is(target.url)) ReferenceDriver.connect(target)
      else driver.connect(target.url, target.asProperties)
    }
  }

  override def modifiesSecurityContext(driver: Driver, options: Map[String, String]): Boolean = false

  private def target(parts: Map[String, String], options: Map[String, String]): Target =
    try Target.of(parts, options)
    catch {
      case e: SparkConfigException => throw NamedConnections.nameIn(options).fold(unresolved(parts, e)) { name =>
          new OptionReferenceException(NamedConnections.withheld(name, e))
        }
    }

  /** An error of Spark's own kind: of others, Spark 4 only says that it could not connect. */
  private def unresolved(parts: Map[String, String], e: SparkConfigException) = {
    val held = parts.collect { case (key, text) if Expression.mayHold(text) => s"'${Target.option(key)}'" }
    new OptionReferenceException(
      s"A connection of the data source 'jdbc' cannot resolve its options ${held.toSeq.sorted.mkString(", ")}: " +
        e.getMessage,
      isRefusal = e.isInstanceOf[PolicyRefusedException])
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
    ConfLists.add(conf, Disabled, "basic")

  /**
   * Spark reads that list once, from the conf of the thread that opens the first connection. A thread without a session
   * knows no conf: after `spark.read.jdbc` with predicates there, no JDBC source of the application would work.
   */
  override def inject(session: SparkSessionExtensions): Unit = {
    session.injectPostHocResolutionRule(_ => ConnectionRule)
    Option(SparkEnv.get).foreach { env =>
      val conf = new SQLConf
      conf.setConfString(Disabled, env.conf.get(Disabled, "basic"))
      SQLConf.withExistingConf(conf)(Class.forName(Spark))
    }
  }

  /** Options' keys have no case. */
  private def has(options: Map[String, String], key: String): Boolean =
    options.keysIterator.exists(key.equalsIgnoreCase)

  private val Spark = "org.apache.spark.sql.execution.datasources.jdbc.connection.ConnectionProvider$"
  private val Disabled = "spark.sql.sources.disabledJdbcConnProviderList"

  private val Formats = Seq("jdbc")
  private val DriverClass = JDBCOptions.JDBC_DRIVER_CLASS

  /** What Spark itself does with a connection before rows are read, or lets another one do. */
  private val Before = Seq(
    JDBCOptions.JDBC_SESSION_INIT_STATEMENT,
    JDBCOptions.JDBC_CONNECTION_PROVIDER,
    JDBCOptions.JDBC_KEYTAB,
    JDBCOptions.JDBC_PRINCIPAL)

  /**
   * Whether a connection may be opened, however its options came here. What the driver gets decides, and not which rows
   * are read, and how.
   *
   * @param written the driver's part of the options, see [[ConnectionParts]]
   */
  private[bindings] def allow(driver: String, written: Map[String, String], options: Map[String, String]): Unit = {
    val url = written(Target.Url)
    val named = written - Target.Url + (JDBCOptions.JDBC_URL -> url) ++
      options.filter { case (key, _) => Before.exists(key.equalsIgnoreCase) }
    // Our own driver takes the database's.
    val all = if (ReferenceUrl.is(url)) named else named + (DriverClass -> driver)
    // A driver that the user has not chosen follows from the URL.
    val judged = if (has(options, DriverClass)) all else named
    try Values.allowConnection(Formats, all, judged.keys.toSeq)
    catch {
      case e: SparkConfigException =>
        throw new OptionReferenceException(e.getMessage, isRefusal = e.isInstanceOf[PolicyRefusedException])
    }
  }

  /** The provider's name, for the option `connectionProvider`. */
  val Name = "sparkconfig"
}
