package io.sparkconfig.azure

import java.io.IOException
import java.util.Date

import io.sparkconfig.core.{Credentials, FileSystems, FreshText, SparkConfigException}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.azurebfs.extensions.CustomTokenProviderAdaptee

/**
 * Access tokens for ABFS: each request has the newest value of a reference, on the driver and on executors.
 *
 * {{{
 *   spark.hadoop.fs.azure.account.auth.type                             Custom
 *   spark.hadoop.fs.azure.account.oauth.provider.type                   io.sparkconfig.azure.ReferenceTokens
 *   spark.hadoop.sparkconfig.credential.fs.azure.account.access.token   ${entra::access_token}
 * }}}
 *
 * With `.ACCOUNT.dfs.core.windows.net` behind it, the name is for one account.
 */
final class ReferenceTokens extends CustomTokenProviderAdaptee {
  @volatile private var credentials: Credentials = _

  override def initialize(conf: Configuration, account: String): Unit =
    credentials = Store.credentials(conf, account, "fs.azure.account.access.token", "${entra::access_token}")

  /** @throws IOException the reference has no value; the message names it */
  override def getAccessToken: String = Store.newest(credentials)

  /** Always over: ABFS then asks for the next request, which costs nothing while there is no newer token. */
  override def getExpiryTime: Date = new Date()

  override def toString: String = "io.sparkconfig.azure.ReferenceTokens"
}

private[azure] object Store {
  private val fresh = new FreshText

  def credentials(conf: Configuration, given: String, name: String, example: String): Credentials = {
    val account = Option(given).filter(_.nonEmpty)
    val text = FreshText.required(conf, account.map(each => s"$name.$each").toSeq :+ name, example)
    new Credentials("abfs", Seq(name -> text), FileSystems.abfs(account, conf))
  }

  def newest(credentials: Credentials): String =
    try fresh.values(credentials).head
    catch { case e: SparkConfigException => throw new IOException(e.getMessage) }
}
