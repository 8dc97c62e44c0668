package io.sparkconfig.aws

import java.net.URI

import com.amazonaws.auth.{AWSCredentials, AWSCredentialsProvider, BasicAWSCredentials, BasicSessionCredentials}
import org.apache.hadoop.conf.Configuration

/** [[ReferenceCredentials]] for the AWS SDK 1, which S3A has in Hadoop 3.3 and so in Spark 3.5. */
final class ReferenceCredentialsV1(uri: URI, conf: Configuration) extends AWSCredentialsProvider {
  private val keys = Keys.ofHadoop(uri, conf)

  override def getCredentials(): AWSCredentials = keys.newest() match {
    case Seq(id, secret) => new BasicAWSCredentials(id, secret)
    case Seq(id, secret, token) => new BasicSessionCredentials(id, secret, token)
  }

  override def refresh(): Unit = ()

  override def toString: String = "io.sparkconfig.aws.ReferenceCredentialsV1"
}
