package io.sparkconfig.aws

import java.net.URI
import java.util.{Map => JMap}

import org.apache.hadoop.conf.Configuration
import software.amazon.awssdk.auth.credentials.{
  AwsBasicCredentials,
  AwsCredentials,
  AwsCredentialsProvider,
  AwsSessionCredentials
}

/**
 * Keys for clients of the AWS SDK 2: each request is signed with the newest values of the references that name them, on
 * the driver and on executors. No task and no configuration holds a value, and a rotation needs no new client.
 *
 * {{{
 *   spark.hadoop.fs.s3a.aws.credentials.provider          io.sparkconfig.aws.ReferenceCredentials
 *   spark.hadoop.sparkconfig.credential.fs.s3a.access.key ${vault:aws/shop:AccessKeyId}
 *   spark.hadoop.sparkconfig.credential.fs.s3a.secret.key ${vault:aws/shop:SecretAccessKey}
 *
 *   spark.sql.catalog.ice.client.credentials-provider                   io.sparkconfig.aws.ReferenceCredentials
 *   spark.sql.catalog.ice.client.credentials-provider.access-key-id     ${vault:aws/shop:AccessKeyId}
 *   spark.sql.catalog.ice.client.credentials-provider.secret-access-key ${vault:aws/shop:SecretAccessKey}
 * }}}
 *
 * S3A adds `fs.s3a.session.token`, Iceberg `session-token`, for temporary keys.
 */
final class ReferenceCredentials private (keys: Keys) extends AwsCredentialsProvider {

  /** S3A's way. */
  def this(uri: URI, conf: Configuration) = this(Keys.ofHadoop(uri, conf))

  /** The same, where S3A has no bucket in mind. */
  def this(conf: Configuration) = this(Keys.ofHadoop(null, conf))

  override def resolveCredentials(): AwsCredentials = keys.newest() match {
    case Seq(id, secret) => AwsBasicCredentials.create(id, secret)
    case Seq(id, secret, token) => AwsSessionCredentials.create(id, secret, token)
  }

  /** The SDK's own print the id of a key, and this one is printed in the errors of S3A. */
  override def toString: String = "io.sparkconfig.aws.ReferenceCredentials"
}

object ReferenceCredentials {

  /** Iceberg's way. */
  def create(properties: JMap[String, String]): ReferenceCredentials =
    new ReferenceCredentials(Keys.ofIceberg(properties))
}
