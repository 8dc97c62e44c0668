package io.sparkconfig.bindings

import java.io.FileNotFoundException
import java.net.URI
import java.nio.file.{AccessDeniedException, NoSuchFileException}
import java.security.UnrecoverableKeyException

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode
import io.sparkconfig.core.Json
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.security.alias.CredentialProviderFactory
import org.apache.hadoop.security.{AccessControlException, ProviderUtils}

/**
 * Reads Hadoop's credential providers for the side process, which has no Hadoop: `sparkconfig.providers.hadoop`
 * asks.
 * An answer holds `values`, or `error` (`missing`, `denied`, `failed`) and the exception's class: no message passes.
 */
private[sparkconfig] object HadoopRequests {
  def answer(configuration: () => Configuration)(name: String, request: JsonNode): JsonNode =
    try {
      if (name != "hadoop.credentials") throw new IllegalArgumentException(name)
      values(configuration(), request.get("provider").asText, Json.texts(request.get("aliases")), request)
    } catch { case NonFatal(e) => failure(e) }

  private def values(base: Configuration, uri: String, aliases: Seq[String], request: JsonNode): JsonNode = {
    val configuration = new Configuration(base)
    configuration.set(CredentialProviderFactory.CREDENTIAL_PROVIDER_PATH, uri)
    requireFile(configuration, new URI(uri))
    val answer = Json.obj()
    val found = answer.putObject("values")
    CredentialProviderFactory.getProviders(configuration).asScala.foreach { provider =>
      val wanted = if (request.path("aliases").isArray) aliases else provider.getAliases.asScala.toSeq
      for (alias <- wanted; entry <- Option(provider.getCredentialEntry(alias))) {
        found.put(alias, new String(entry.getCredential))
      }
    }
    answer
  }

  /** Hadoop takes a file that is not there for an empty keystore. */
  private def requireFile(configuration: Configuration, uri: URI): Unit =
    if (uri.getScheme != "user") {
      val file = ProviderUtils.unnestUri(uri)
      if (!file.getFileSystem(configuration).exists(file)) throw new FileNotFoundException()
    }

  private def failure(e: Throwable): JsonNode = {
    val chain = Iterator.iterate(e)(_.getCause).takeWhile(_ != null).take(10).toSeq
    val kind =
      chain.collectFirst {
        case _: FileNotFoundException | _: NoSuchFileException => "missing"
        case _: AccessControlException | _: AccessDeniedException | _: UnrecoverableKeyException => "denied"
      }.getOrElse("failed")
    val answer = Json.obj()
    answer.put("error", kind)
    answer.put("class", chain.last.getClass.getSimpleName)
    answer
  }
}
