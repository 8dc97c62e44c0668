package io.sparkconfig.driver

import org.apache.spark.SparkConf
import org.apache.spark.sparkconfig.SparkAccess
import org.slf4j.LoggerFactory

/**
 * Snapshots travel over Spark's RPC. Any process that reaches the driver's port could ask for one, so executors in
 * processes of their own need `spark.authenticate` and encrypted RPC, on the same host, too. SASL's encryption does not
 * count: it is DIGEST-MD5, and a peer may do without it.
 */
private[driver] object RpcProtection {
  private val log = LoggerFactory.getLogger("io.sparkconfig.driver.RpcProtection")
  private val TlsKey = "spark.ssl.rpc.enabled"

  /** Spark 3.5 takes the key, does nothing, and sends everything in the clear. */
  private lazy val hasTls =
    try {
      Class.forName("org.apache.spark.network.ssl.SSLFactory", false, classOf[SparkConf].getClassLoader)
      true
    } catch { case _: ClassNotFoundException => false }

  private lazy val Remedy =
    "set spark.authenticate=true and spark.network.crypto.enabled=true" +
      (if (hasTls) s" (or $TlsKey=true)" else s"; Spark ${org.apache.spark.SPARK_VERSION} ignores $TlsKey")

  def problem(conf: SparkConf, insecureAllowed: Boolean): Option[String] =
    if (insecureAllowed || isProtected(conf)) None
    else Some(
      "spark.authenticate: executors would receive secrets over unprotected RPC; " +
        s"$Remedy, or accept the risk with spark.config.rpc.insecure=true.")

  def warn(conf: SparkConf, insecureAllowed: Boolean): Unit =
    if (insecureAllowed && !isProtected(conf)) {
      log.warn(
        "spark.config.rpc.insecure=true: any process that reaches the driver's port can read the secrets in use; {}",
        Remedy)
    }

  private def isProtected(conf: SparkConf): Boolean = {
    // One process: its endpoint answers no question; see DriverSide.
    val local = SparkAccess.isLocalMaster(conf)
    val encrypted =
      conf.getBoolean("spark.network.crypto.enabled", defaultValue = false) ||
        (hasTls && conf.getBoolean(TlsKey, defaultValue = false))
    local || (conf.getBoolean("spark.authenticate", defaultValue = false) && encrypted)
  }
}
