package io.sparkconfig.azure

import java.io.IOException

import io.sparkconfig.core.Credentials
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.azurebfs.extensions.SASTokenProvider

/**
 * Shared access signatures for ABFS: the newest value of a reference, on the driver and on executors, for each request
 * but those to a file that is open. For these ABFS keeps one until two minutes before its end.
 *
 * {{{
 *   spark.hadoop.fs.azure.account.auth.type                      SAS
 *   spark.hadoop.fs.azure.sas.token.provider.type                io.sparkconfig.azure.ReferenceSas
 *   spark.hadoop.sparkconfig.credential.fs.azure.sas.fixed.token ${vault:azure/shop:sas}
 * }}}
 *
 * With `.ACCOUNT.dfs.core.windows.net` behind it, the name is for one account.
 */
final class ReferenceSas extends SASTokenProvider {
  @volatile private var credentials: Credentials = _

  override def initialize(conf: Configuration, account: String): Unit =
    credentials = Store.credentials(conf, account, "fs.azure.sas.fixed.token", "${vault:azure/shop:sas}")

  /**
   * Azure's portal shows signatures with a question mark in front, which ABFS adds by itself.
   *
   * @throws IOException the reference has no value; the message names it
   */
  override def getSASToken(account: String, fileSystem: String, path: String, operation: String): String =
    Store.newest(credentials).stripPrefix("?")

  override def toString: String = "io.sparkconfig.azure.ReferenceSas"
}
