package io.sparkconfig.driver

import java.util.Base64
import javax.crypto.spec.{GCMParameterSpec, SecretKeySpec}
import javax.crypto.{AEADBadTagException, Cipher}

import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode
import io.sparkconfig.bindings.HadoopRequests
import io.sparkconfig.core.Json
import org.apache.hadoop.conf.Configuration

/** What the side process asks of this JVM: Hadoop's keystores, and AES-GCM where its Python has no `cryptography`. */
private[driver] object JvmRequests {
  private val TagBits = 128

  def answer(configuration: () => Configuration): (String, JsonNode) => JsonNode = {
    val hadoop = HadoopRequests.answer(configuration) _
    (name, request) => if (name == "aes-gcm") aesGcm(request) else hadoop(name, request)
  }

  /** An answer holds `data`, or `error` (`tag`, `failed`) and the exception's class: no message passes. */
  private[driver] def aesGcm(request: JsonNode): JsonNode = {
    val answer = Json.obj()
    def part(name: String) = Base64.getDecoder.decode(request.get(name).asText)
    try {
      val mode = if (request.get("mode").asText == "encrypt") Cipher.ENCRYPT_MODE else Cipher.DECRYPT_MODE
      val cipher = Cipher.getInstance("AES/GCM/NoPadding")
      cipher.init(mode, new SecretKeySpec(part("key"), "AES"), new GCMParameterSpec(TagBits, part("nonce")))
      cipher.updateAAD(part("bound"))
      answer.put("data", Base64.getEncoder.encodeToString(cipher.doFinal(part("data"))))
    } catch {
      case _: AEADBadTagException => answer.put("error", "tag")
      case NonFatal(e) => answer.put("error", "failed").put("class", e.getClass.getSimpleName)
    }
    answer
  }
}
