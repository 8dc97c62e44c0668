package io.sparkconfig.aws

import java.net.URI

import io.sparkconfig.core.{Credentials, FileSystems, FreshText, SparkConfigException}
import org.apache.hadoop.conf.Configuration

/**
 * A pair of keys and perhaps a session token, as texts with references; their values are asked for at each request.
 *
 * @param format what rules about references call it
 * @param texts by the names that errors show, in the order of the constructor
 * @param place where they go
 */
private[aws] final class Keys(format: String, texts: Seq[(String, Option[String])], place: Map[String, String]) {
  private val Seq(id, secret, token) = texts
  for ((name, text) <- Seq(id, secret); if text.isEmpty) throw new SparkConfigException(
    s"io.sparkconfig.aws: '$name' is not set. It holds a reference, such as ${"${vault:aws/shop:AccessKeyId}"}")

  private val credentials = new Credentials(
    format,
    Seq(id, secret, token).flatMap { case (name, text) => text.map(name.stripPrefix(FreshText.Prefix) -> _) },
    place)

  /** The newest values, all of one generation: id, secret, and the token where there is one. */
  def newest(): Seq[String] = Keys.fresh.values(credentials)

  override def toString: String = s"Keys(${texts.map(_._1).mkString(", ")})"
}

private[aws] object Keys {
  private val fresh = new FreshText

  /** The credential names of S3A, for a bucket before those for all. */
  def ofHadoop(uri: URI, conf: Configuration): Keys = {
    val bucket = Option(uri).flatMap(each => Option(each.getHost))
    def text(name: String) = {
      val own = bucket.map(host => s"fs.s3a.bucket.$host.$name")
      s"${FreshText.Prefix}fs.s3a.$name" -> FreshText.ofHadoop(conf, own.toSeq :+ s"fs.s3a.$name")
    }
    new Keys("s3a", Seq(text("access.key"), text("secret.key"), text("session.token")), FileSystems.s3a(bucket, conf))
  }

  /** Iceberg's `client.credentials-provider.NAME`; it does not say for which of Amazon's services. */
  def ofIceberg(properties: java.util.Map[String, String]): Keys = new Keys(
    "iceberg",
    Seq("access-key-id", "secret-access-key", "session-token").map { name =>
      s"client.credentials-provider.$name" -> Option(properties.get(name)).map(_.trim).filter(_.nonEmpty)
    },
    Map.empty)
}
