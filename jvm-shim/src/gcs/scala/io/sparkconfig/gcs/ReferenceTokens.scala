package io.sparkconfig.gcs

import java.io.IOException
import java.time.Instant

import com.google.cloud.hadoop.util.AccessTokenProvider
import com.google.cloud.hadoop.util.AccessTokenProvider.AccessToken
import io.sparkconfig.core.{Credentials, FileSystems, FreshText, SparkConfigException}
import org.apache.hadoop.conf.Configuration

/**
 * Access tokens for gcs-connector 3: each request has the newest value of a reference, on the driver and on executors.
 *
 * {{{
 *   spark.hadoop.fs.gs.auth.type                                ACCESS_TOKEN_PROVIDER
 *   spark.hadoop.fs.gs.auth.access.token.provider               io.sparkconfig.gcs.ReferenceTokens
 *   spark.hadoop.sparkconfig.credential.fs.gs.auth.access.token ${gcp::access_token}
 * }}}
 */
final class ReferenceTokens extends AccessTokenProvider {
  @volatile private var conf: Configuration = _
  @volatile private var credentials: Credentials = _

  override def setConf(given: Configuration): Unit = {
    conf = given
    val name = "fs.gs.auth.access.token"
    val text = FreshText.required(given, Seq(name), "${gcp::access_token}")
    credentials = new Credentials("gcs", Seq(name -> text), FileSystems.gcs(given))
  }

  override def getConf: Configuration = conf

  /**
   * Google's library asks again for a token whose end is less than minutes away, and so for each request: which costs
   * nothing while there is no newer token.
   */
  override def getAccessToken: AccessToken =
    try new AccessToken(ReferenceTokens.fresh.values(credentials).head, Instant.now().plusSeconds(1))
    catch { case e: SparkConfigException => throw new IOException(e.getMessage) }

  override def refresh(): Unit = ()

  override def toString: String = "io.sparkconfig.gcs.ReferenceTokens"
}

private[gcs] object ReferenceTokens {
  private val fresh = new FreshText
}
