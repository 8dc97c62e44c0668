package io.sparkconfig.core

import org.apache.hadoop.conf.Configuration

/**
 * Where Hadoop's file systems send their credentials, as options for the policies: `uri`, which only these doors set,
 * and what of a configuration leads elsewhere. Without `uri` it is unknown, and a rule that binds by it refuses.
 */
object FileSystems {
  private val Bucket =
    raw"fs\.s3a\.bucket\.(.+)\.(?:access\.key|secret\.key|session\.token|(?:server-side-)?encryption\.key)".r
  private val Account =
    raw"fs\.azure\.(?:account\.key|account\.oauth2\.client\.(?:id|secret)|sas\.fixed\.token)\.(.+)".r
  private val Hive = "javax.jdo.option."
  private val Storage = "https://storage.googleapis.com"

  /** What Spark itself sets where the user has set nothing. */
  private val Amazon = "s3.amazonaws.com"

  /** Those of the machine and of Hadoop. */
  private lazy val defaults = new Configuration()

  /** Format and place of the credential that a file system asks for by this name. */
  def ofAlias(name: String, conf: Configuration): (String, Map[String, String]) = name match {
    case Bucket(bucket) => "s3a" -> s3a(Some(bucket), conf)
    case Account(account) => "abfs" -> abfs(Some(account), conf)
    case _ if name.startsWith("fs.s3a.") => "s3a" -> s3a(None, conf)
    case _ if name.startsWith("fs.azure.") => "abfs" -> abfs(None, conf)
    case _ if name.startsWith("fs.gs.") => "gcs" -> gcs(conf)
    case _ if name.startsWith(Hive) =>
      "hive" -> set(conf, Seq("ConnectionURL", "ConnectionDriverName").map(each => Hive + each))
    case _ => "hadoop" -> Map.empty
  }

  def s3a(bucket: Option[String], conf: Configuration): Map[String, String] = {
    val leading = Seq("endpoint", "proxy.host", "custom.signers", "s3.client.factory.impl", "sts.endpoint")
    val found = leading.flatMap { name =>
      val general = s"fs.s3a.$name"
      // S3A copies what is set for the bucket to the general name: it was set for the bucket alone.
      val own = bucket.map(each => s"fs.s3a.bucket.$each.$name").filter { key =>
        conf.getRaw(key) != null && (conf.getRaw(general) == null || conf.getRaw(general) == conf.getRaw(key))
      }
      set(conf, Seq(own.getOrElse(general)))
    }
    found.toMap.filterNot(_._2 == Amazon) ++ bucket.map("uri" -> "s3a://".concat(_))
  }

  def abfs(account: Option[String], conf: Configuration): Map[String, String] = {
    val leading = Seq("fs.azure.account.oauth2.client.endpoint", "fs.azure.account.oauth2.refresh.token.endpoint")
    set(conf, leading ++ account.toSeq.flatMap(each => leading.map(name => s"$name.$each"))) ++
      account.map("uri" -> "abfss://".concat(_))
  }

  /** A token is good for every bucket: it goes to the storage itself. */
  def gcs(conf: Configuration): Map[String, String] = {
    val root = Option(conf.get("fs.gs.storage.root.url")).getOrElse(Storage)
    set(conf, Seq("fs.gs.proxy.address", "fs.gs.token.server.url")) + ("uri" -> root.stripSuffix("/"))
  }

  private def set(conf: Configuration, names: Seq[String]): Map[String, String] = names.flatMap { name =>
    Option(conf.get(name)).filter(text => text.trim.nonEmpty && text != defaults.get(name)).map(name -> _)
  }.toMap
}
