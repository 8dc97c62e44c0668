package io.sparkconfig.aws

import java.net.URI

import io.sparkconfig.core.{FreshText, SparkConfigException}
import org.apache.hadoop.conf.Configuration

/**
 * A pair of keys and perhaps a session token, as texts with references; their values are asked for at each request.
 *
 * @param texts by the names that errors show, in the order of the constructor
 */
private[aws] final class Keys(texts: Seq[(String, Option[String])]) {
  private val Seq(id, secret, token) = texts
  for ((name, text) <- Seq(id, secret); if text.isEmpty) throw new SparkConfigException(
    s"io.sparkconfig.aws: '$name' is not set. It holds a reference, such as ${"${vault:aws/shop:AccessKeyId}"}")

  /** The newest values, all of one generation: id, secret, and the token where there is one. */
  def newest(): Seq[String] = Keys.fresh.values(Seq(id, secret, token).flatMap { case (_, text) => text })

  override def toString: String = s"Keys(${texts.map(_._1).mkString(", ")})"
}

private[aws] object Keys {
  private val fresh = new FreshText

  /** The credential names of S3A, for a bucket before those for all. */
  def ofHadoop(uri: URI, conf: Configuration): Keys = {
    def text(name: String) = {
      val bucket = Option(uri).flatMap(each => Option(each.getHost)).map(host => s"fs.s3a.bucket.$host.$name")
      s"${FreshText.Prefix}fs.s3a.$name" -> FreshText.ofHadoop(conf, bucket.toSeq :+ s"fs.s3a.$name")
    }
    new Keys(Seq(text("access.key"), text("secret.key"), text("session.token")))
  }

  /** Iceberg's `client.credentials-provider.NAME`. */
  def ofIceberg(properties: java.util.Map[String, String]): Keys = new Keys(
    Seq("access-key-id", "secret-access-key", "session-token").map { name =>
      s"client.credentials-provider.$name" -> Option(properties.get(name)).map(_.trim).filter(_.nonEmpty)
    })
}
