package io.sparkconfig.bindings.sources

import java.nio.charset.StandardCharsets.UTF_8
import javax.crypto.Mac
import javax.crypto.spec.SecretKeySpec

import io.sparkconfig.core.Tokens

/**
 * Tells whether resolved options are the same as before, without keeping a value. The key of the hash is not guessable,
 * and gone with this process: a fingerprint tells nothing about a password.
 */
private[sources] object Fingerprint {
  private val Algorithm = "HmacSHA256"
  private lazy val key = new SecretKeySpec(Tokens.bytes(32), Algorithm)

  /** 64 digits; whatever belongs to the options, such as the paths of a load, may come with them. */
  def of(options: Map[String, String], more: Seq[String] = Nil): String = {
    val mac = Mac.getInstance(Algorithm)
    mac.init(key)
    // Lengths in front: no two maps are written alike.
    val texts = options.toSeq.sortBy(_._1).flatMap { case (name, value) => Seq(name, value) } ++ more
    (options.size.toString +: texts).foreach { text =>
      mac.update((if (text == null) "-" else s"${text.length}:$text").getBytes(UTF_8))
    }
    mac.doFinal().map(byte => f"$byte%02x").mkString
  }
}
