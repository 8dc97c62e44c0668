package io.sparkconfig.iceberg

import java.util.{Map => JMap}

import io.sparkconfig.core.{Credentials, FreshText, SparkConfigException}
import org.apache.iceberg.rest.auth.{AuthManager, AuthSession, DefaultAuthSession}
import org.apache.iceberg.rest.{HTTPHeaders, HTTPRequest, RESTClient}

/**
 * Bearer tokens for Iceberg's REST catalogs: each request has the newest value of a reference.
 *
 * {{{
 *   spark.sql.catalog.ice.rest.auth.type io.sparkconfig.iceberg.ReferenceTokens
 *   spark.sql.catalog.ice.token          ${oidc::access_token}
 * }}}
 *
 * @param name of the catalog, for errors
 */
final class ReferenceTokens(name: String) extends AuthManager {
  import ReferenceTokens._

  @volatile private var session: Option[Session] = None

  /**
   * Iceberg's first call. Its properties are the application's: in those of later calls the server has a say, and what
   * it sends must not be read as a reference.
   */
  override def initSession(client: RESTClient, properties: JMap[String, String]): AuthSession = {
    val text = Option(properties.get(Token)).map(_.trim).filter(_.nonEmpty).getOrElse(throw new SparkConfigException(
      s"'spark.sql.catalog.$name.$Token' is not set. It holds a reference, such as ${"${oidc::access_token}"}"))
    val place = Option(properties.get(Uri)).map(Uri -> _).toMap
    val made = new Session(new Credentials("iceberg", Seq(Token -> text), place))
    session = Some(made)
    made
  }

  override def catalogSession(client: RESTClient, properties: JMap[String, String]): AuthSession =
    session.getOrElse(throw new SparkConfigException(
      s"io.sparkconfig.iceberg.ReferenceTokens is for catalogs, and not for what Iceberg calls '$name'"))

  override def close(): Unit = ()

  override def toString: String = "io.sparkconfig.iceberg.ReferenceTokens"
}

private[iceberg] object ReferenceTokens {
  private val Token = "token"
  private val Uri = "uri"
  private val fresh = new FreshText

  private final class Session(credentials: Credentials) extends AuthSession {
    override def authenticate(request: HTTPRequest): HTTPRequest = {
      val token = fresh.values(credentials).head
      val header = HTTPHeaders.HTTPHeader.of("Authorization", s"Bearer $token")
      DefaultAuthSession.of(HTTPHeaders.of(header)).authenticate(request)
    }

    override def close(): Unit = ()

    override def toString: String = "io.sparkconfig.iceberg.ReferenceTokens"
  }
}
