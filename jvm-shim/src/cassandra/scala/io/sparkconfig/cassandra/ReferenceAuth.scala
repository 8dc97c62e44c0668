package io.sparkconfig.cassandra

import com.datastax.oss.driver.api.core.auth.PlainTextAuthProviderBase.{Credentials => Login}
import com.datastax.oss.driver.api.core.auth.{AuthProvider, PlainTextAuthProviderBase}
import com.datastax.oss.driver.api.core.metadata.EndPoint
import com.datastax.spark.connector.cql.{AuthConf, AuthConfFactory}
import io.sparkconfig.core.{Credentials, Expression, FreshText, SparkConfigException}
import org.apache.spark.SparkConf

/**
 * User and password for the Cassandra connector: each connection logs in with the newest values of two references, on
 * the driver and on executors. No task holds a value, and sessions that the connector keeps follow rotations.
 *
 * {{{
 *   spark.cassandra.auth.conf.factory       io.sparkconfig.cassandra.ReferenceAuth
 *   spark.cassandra.auth.reference.username vault:database/creds/shop:username
 *   spark.cassandra.auth.reference.password vault:database/creds/shop:password
 * }}}
 *
 * The confs hold references without their `${` and `}`: with them the connector would get values, and keep them. A name
 * that never changes may be in `spark.cassandra.auth.username` instead.
 */
object ReferenceAuth extends AuthConfFactory {
  private val Prefix = "spark.cassandra.auth."
  private val Host = "spark.cassandra.connection.host"
  private val Port = "spark.cassandra.connection.port"
  private val Written = """[^:${}\s]+:[^${}]+""".r

  /** @throws SparkConfigException a conf is missing, or is not a reference in this form; the message never shows it */
  override def authConf(conf: SparkConf): AuthConf = {
    val user = reference(conf, "username").orElse(conf.getOption(s"${Prefix}username")).getOrElse(missing("username"))
    val password = reference(conf, "password").getOrElse(missing("password"))
    new ReferenceAuthConf(user, password, Map(Host -> conf.get(Host, "localhost"), Port -> conf.get(Port, "9042")))
  }

  /** What the connector does not know, and would refuse. */
  override def properties(): Set[String] = Set(s"${Prefix}reference.username", s"${Prefix}reference.password")

  private def reference(conf: SparkConf, name: String): Option[String] =
    conf.getOption(s"${Prefix}reference.$name").map(_.trim).map { text =>
      if (Written.pattern.matcher(text).matches) "${" + text + "}" else missing(name)
    }

  private def missing(name: String): Nothing = throw new SparkConfigException(
    s"'${Prefix}reference.$name' has to hold PROVIDER:PATH:KEY, a reference without its " + "${ and }")
}

/** What the connector sends to executors: references, and where they may go. Equal ones share its sessions. */
private[cassandra] final case class ReferenceAuthConf(user: String, password: String, servers: Map[String, String])
  extends AuthConf {

  override def authProvider: Option[AuthProvider] = {
    val texts = Seq("spark.cassandra.auth.username" -> user, "spark.cassandra.auth.password" -> password)
    Some(new ReferenceAuthProvider(new Credentials("cassandra", texts, servers)))
  }

  override def toString: String = "io.sparkconfig.cassandra.ReferenceAuth"
}

private[cassandra] final class ReferenceAuthProvider(credentials: Credentials)
  extends PlainTextAuthProviderBase("sparkconfig") {

  /**
   * Called at each login of each connection.
   *
   * @throws SparkConfigException a reference has no value, or a policy refuses to send it to these servers
   */
  override protected def getCredentials(endPoint: EndPoint, serverAuthenticator: String): Login = {
    val Seq(name, secret) = ReferenceAuthProvider.newest(credentials)
    new Login(name.toCharArray, secret.toCharArray)
  }

  override def toString: String = "io.sparkconfig.cassandra.ReferenceAuth"
}

private[cassandra] object ReferenceAuthProvider {
  private val fresh = new FreshText

  /** Both of one generation. */
  def newest(credentials: Credentials): Seq[String] = {
    val values = fresh.values(credentials)
    for (((_, text), value) <- credentials.texts.zip(values); if Expression.mayHold(text) && value == text)
      throw new SparkConfigException(s"$text cannot be resolved: no provider answers it")
    values
  }
}
