package io.sparkconfig.bindings

import java.net.URI
import java.util.{List => JList}

import scala.collection.JavaConverters._

import io.sparkconfig.core.{Binding, Bound, Expression, FileSystems, Values}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.security.alias.{CredentialProvider, CredentialProviderFactory}

/**
 * Makes the credential provider `sparkconfig:///`, for `hadoop.security.credential.provider.path`. Hadoop finds it
 * through ServiceLoader, with the class loader that loaded Hadoop: the jar has to be on the extraClassPath of driver
 * and executors, or in Spark's own jars.
 */
class ReferenceCredentialsFactory extends CredentialProviderFactory {
  override def createProvider(address: URI, configuration: Configuration): CredentialProvider =
    if (address.getScheme == ReferenceCredentials.Scheme) new ReferenceCredentials(configuration) else null
}

/**
 * Answers `Configuration.getPassword(NAME)` with the newest value of the reference that the configuration holds as
 * `sparkconfig.credential.NAME`, or as NAME itself. The configuration, which Spark broadcasts to executors, keeps
 * the reference.
 */
private[bindings] final class ReferenceCredentials(configuration: Configuration) extends CredentialProvider {
  import ReferenceCredentials._

  override def getCredentialEntry(name: String): CredentialProvider.CredentialEntry =
    Seq(Prefix + name, name).map(configuration.getRaw).find(Expression.mayHold) match {
      case Some(text) =>
        // A user names the bucket, and with it where an operator's keys go.
        val (format, place) = FileSystems.ofAlias(name, configuration)
        Values.allowConnection(Seq(format), place + (name -> text))
        new Entry(name, Values.resolve(Expression(text)).toCharArray)
      case None => null
    }

  override def getAliases: JList[String] =
    configuration.asScala.map(_.getKey).filter(_.startsWith(Prefix)).map(_.stripPrefix(Prefix)).toList.asJava

  override def isTransient: Boolean = true

  override def flush(): Unit = ()

  override def createCredentialEntry(name: String, value: Array[Char]): CredentialProvider.CredentialEntry =
    throw new UnsupportedOperationException(ReadOnly)

  override def deleteCredentialEntry(name: String): Unit = throw new UnsupportedOperationException(ReadOnly)

  override def toString: String = Scheme + ":///"
}

/** Hadoop's own shows the credential in its toString. */
private final class Entry(name: String, value: Array[Char]) extends CredentialProvider.CredentialEntry(name, value) {
  override def toString: String = name
}

private[bindings] object ReferenceCredentials extends Binding {
  override def name: String = "Hadoop"

  override def binds: Seq[Bound] =
    Seq(Bound("Hadoop: `Configuration.getPassword` on driver and executors [7]", "yes", "yes"))

  val Scheme = "sparkconfig"

  /** Before a credential's name: what Spark itself must not put a value in place of. */
  val Prefix = "sparkconfig.credential."

  private val ReadOnly = "sparkconfig's credentials are references: change the secret in its store"
}
