package io.sparkconfig.driver

import org.apache.spark.SparkConf
import org.apache.spark.sparkconfig.SparkAccess
import org.slf4j.LoggerFactory

/**
 * Snapshots travel over Spark's RPC. Whoever reaches the driver's port could ask for one, so executors in processes of
 * their own need `spark.authenticate` and encrypted RPC, on the same host, too. SASL's encryption does not count: it is
 * DIGEST-MD5, and a peer may do without it.
 */
private[driver] object RpcProtection {
  private val log = LoggerFactory.getLogger("io.sparkconfig.driver.RpcProtection")
  private val Remedy =
    "set spark.authenticate=true and spark.network.crypto.enabled=true (or spark.ssl.rpc.enabled=true)"

  def problem(conf: SparkConf, insecureAllowed: Boolean): Option[String] =
    if (insecureAllowed || isProtected(conf)) None
    else Some(
      "spark.authenticate: executors would receive secrets over unprotected RPC; " +
        s"$Remedy, or accept the risk with spark.config.rpc.insecure=true.")

  def warn(conf: SparkConf, insecureAllowed: Boolean): Unit =
    if (insecureAllowed && !isProtected(conf)) {
      log.warn(
        "spark.config.rpc.insecure=true: whoever reaches the driver's port can read the secrets in use; {}",
        Remedy)
    }

  private def isProtected(conf: SparkConf): Boolean = {
    // One process, whose endpoint answers nobody; see DriverSide.
    val local = SparkAccess.isLocalMaster(conf)
    val encrypted =
      conf.getBoolean("spark.network.crypto.enabled", defaultValue = false) ||
        conf.getBoolean("spark.ssl.rpc.enabled", defaultValue = false)
    local || (conf.getBoolean("spark.authenticate", defaultValue = false) && encrypted)
  }
}
