package io.sparkconfig.kafka

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.util.{Base64, Collections, List => JList, Map => JMap, Set => JSet}
import javax.security.auth.callback.{Callback, UnsupportedCallbackException}
import javax.security.auth.login.AppConfigurationEntry

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import io.sparkconfig.core.{Expression, SparkConfigException, Values}
import org.apache.kafka.common.security.auth.{AuthenticateCallbackHandler, SaslExtensions, SaslExtensionsCallback}
import org.apache.kafka.common.security.oauthbearer.{OAuthBearerToken, OAuthBearerTokenCallback}
import org.slf4j.LoggerFactory

/**
 * Gives Kafka's clients the newest token of a reference at each login, on the driver and on executors (KIP-255).
 *
 * {{{
 *   kafka.sasl.mechanism=OAUTHBEARER
 *   kafka.sasl.login.callback.handler.class=io.sparkconfig.kafka.ReferenceOAuthBearer
 *   kafka.sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required \
 *     reference="oauth2::access_token";
 * }}}
 *
 * The option holds the reference without its `${` and `}`: with them Spark, or Kafka's own config providers, would put
 * a value in its place that no later login could renew. `extension_NAME` adds SASL extensions.
 */
final class ReferenceOAuthBearer extends AuthenticateCallbackHandler {
  private val log = LoggerFactory.getLogger(classOf[ReferenceOAuthBearer])
  @volatile private var expression: Option[Expression] = None
  @volatile private var extensions = Map.empty[String, String]

  /**
   * Asks the policies whether the token may go to these brokers: no data source has shown them this reference.
   *
   * @throws SparkConfigException the option `reference` is missing, malformed or without a value, its token is over,
   *   or a policy refuses
   */
  override def configure(configs: JMap[String, _], mechanism: String, entries: JList[AppConfigurationEntry]): Unit = {
    val options = entries.asScala.flatMap { entry =>
      entry.getOptions.asScala.toSeq.map { case (key, text) => key -> String.valueOf(text) }
    }.toMap
    val written = options.getOrElse("reference", "").trim
    if (!ReferenceOAuthBearer.Written.pattern.matcher(written).matches) throw new SparkConfigException(
      "kafka.sasl.jaas.config: ReferenceOAuthBearer needs the option reference=\"PROVIDER:PATH:KEY\", " +
        "a reference without its ${ and }")
    val made = Expression("${" + written + "}")
    Values.allowConnection(Seq("kafka"), ReferenceOAuthBearer.connection(configs, made))
    extensions = options.collect { case (key, text) if key.startsWith("extension_") => key.drop(10) -> text }
    // Of what goes wrong at a login, Kafka's errors tell nothing.
    newest(made)
    expression = Some(made)
  }

  /** @throws IOException no token still holds; the message says why, and Kafka puts it into its log alone */
  override def handle(callbacks: Array[Callback]): Unit = callbacks.foreach {
    case token: OAuthBearerTokenCallback =>
      val value =
        try newest(expression.getOrElse(throw new IOException("ReferenceOAuthBearer is not configured")))
        catch {
          case e: SparkConfigException => throw new IOException(e.getMessage)
          // Kafka waits for its thread while it closes a client: the thread has to see that it was interrupted.
          case _: InterruptedException =>
            Thread.currentThread().interrupt()
            throw new IOException("interrupted while waiting for a token")
        }
      token.token(new ReferenceOAuthBearer.Token(value))
    case added: SaslExtensionsCallback => added.extensions(new SaslExtensions(extensions.asJava))
    case other => throw new UnsupportedCallbackException(other)
  }

  private def newest(wanted: Expression): String = {
    // A client logs in seldom: an executor does not rely on its last poll.
    try Values.refresh()
    catch { case NonFatal(e) => log.warn("no news from the driver: {}", e.getClass.getName) }
    val used = Values.use(Seq(wanted))
    val value = used.values.head.trim
    if (value == wanted.text)
      throw new SparkConfigException(s"${wanted.text} cannot be resolved: no provider answers it")
    if (!ReferenceOAuthBearer.isOver(value)) value
    else {
      // A client that logs in with it would never log in again.
      val renewed = Values.renew(used).values.head.trim
      if (ReferenceOAuthBearer.isOver(renewed)) throw new SparkConfigException(
        s"${wanted.text}: the token has expired, by the clock of this machine. Does its store renew it in time?")
      renewed
    }
  }

  override def close(): Unit = ()

  override def toString: String = "io.sparkconfig.kafka.ReferenceOAuthBearer"
}

private[kafka] object ReferenceOAuthBearer {
  private val Written = """[^:${}\s]+:[^${}]+""".r

  /** Kafka asks again before a token's end; of one that does not tell it, this long after it was given. */
  private val UnknownLifeMs = 300000L
  private val End = """"exp"\s*:\s*(\d{1,12})""".r

  /** What the policies are asked about: the brokers, and the reference where a plain option would hold it. */
  private def connection(configs: JMap[String, _], expression: Expression): Map[String, String] = {
    val servers = configs.get("bootstrap.servers") match {
      case list: JList[_] => list.asScala.mkString(",")
      case other => String.valueOf(other)
    }
    Map(
      "kafka.bootstrap.servers" -> servers,
      "kafka.sasl.jaas.config" ->
        ("org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required token=\"" +
          expression.text + "\";"))
  }

  /** Kafka writes the name, the scope and the times into its log, and nothing else. */
  private final class Token(override val value: String) extends OAuthBearerToken {
    override val lifetimeMs: Long = end(value).getOrElse(System.currentTimeMillis() + UnknownLifeMs)
    override def scope: JSet[String] = Collections.emptySet()
    override def principalName: String = "sparkconfig"
    override def startTimeMs: java.lang.Long = null
    override def toString: String = "OAuthBearerToken"
  }

  private def isOver(token: String): Boolean = end(token).exists(_ <= System.currentTimeMillis())

  /** When a JSON Web Token ends, in milliseconds since 1970; None for other tokens. */
  private def end(token: String): Option[Long] = token.split('.') match {
    case Array(_, claims, _*) =>
      try End.findFirstMatchIn(new String(Base64.getUrlDecoder.decode(claims), UTF_8)).map(_.group(1).toLong * 1000)
      catch { case _: IllegalArgumentException => None }
    case _ => None
  }
}
