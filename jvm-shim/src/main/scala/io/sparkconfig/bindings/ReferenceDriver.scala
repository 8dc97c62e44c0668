package io.sparkconfig.bindings

import java.sql.{Connection, Driver, DriverManager, DriverPropertyInfo, SQLException, SQLFeatureNotSupportedException}
import java.util.concurrent.atomic.AtomicBoolean
import java.util.logging.Logger
import java.util.{Properties, ServiceLoader}

import scala.collection.JavaConverters._

import io.sparkconfig.core.{NamedConnections, ReferenceUrl, SparkConfigException, Target, Values}

/**
 * A JDBC driver for libraries that open connections by themselves, such as Iceberg's JDBC catalog and connection pools:
 * `jdbc:sparkconfig:postgresql://db/shop` connects as `jdbc:postgresql://db/shop` does. References in the URL and in
 * the properties get the values of the moment at each connection, on the driver and on executors.
 *
 * DriverManager makes one through ServiceLoader, and leaves it to the driver to register itself.
 */
class ReferenceDriver extends Driver {
  import ReferenceDriver._

  if (registered.compareAndSet(false, true)) DriverManager.registerDriver(this)

  override def acceptsURL(url: String): Boolean = ReferenceUrl.is(url)

  /** @throws SQLException the database's own, or what is wrong with a reference */
  override def connect(url: String, properties: Properties): Connection =
    if (!ReferenceUrl.is(url)) null
    else {
      val given = Option(properties).map(_.asScala.toMap).getOrElse(Map.empty)
      val parts = given + (Target.Url -> url)
      try Values.allowConnection(Seq("jdbc"), given + (Target.option(Target.Url) -> url))
      catch { case e: SparkConfigException => throw new SQLException(e.getMessage) }
      def target =
        try Target.of(parts, parts)
        catch {
          case e: SparkConfigException =>
            throw new SQLException(NamedConnections.nameIn(parts).fold(e.getMessage)(NamedConnections.withheld(_, e)))
        }
      LateConnection.open(target)(ReferenceDriver.connect)
    }

  override def getPropertyInfo(url: String, properties: Properties): Array[DriverPropertyInfo] = Array.empty

  override def getMajorVersion: Int = 0

  override def getMinorVersion: Int = 1

  /** The real one may be; who asks this one cannot know. */
  override def jdbcCompliant: Boolean = false

  override def getParentLogger: Logger = throw new SQLFeatureNotSupportedException("it logs with SLF4J")
}

private[sparkconfig] object ReferenceDriver {
  private val registered = new AtomicBoolean

  /** @param target with values, and one of our URLs */
  def connect(target: Target): Connection = {
    val url = "jdbc:" + target.url.substring(ReferenceUrl.Prefix.length)
    real(url).connect(url, target.asProperties)
  }

  /** A driver on Spark's class path, or one that came with the job. */
  private def real(url: String): Driver = {
    def theirs(drivers: Iterator[Driver]) =
      drivers.find(each => !each.isInstanceOf[ReferenceDriver] && each.acceptsURL(url))
    theirs(DriverManager.getDrivers.asScala)
      .orElse(theirs(ServiceLoader.load(classOf[Driver], Thread.currentThread.getContextClassLoader).iterator.asScala))
      .getOrElse(throw new SQLException(
        s"jdbc:sparkconfig: no JDBC driver takes URLs that begin with " +
          s"'${url.split(':').take(2).mkString("", ":", ":")}': " +
          "put the database's driver on the class path of driver and executors"))
  }
}
