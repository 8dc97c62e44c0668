package io.sparkconfig.core

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64
import javax.crypto.Mac
import javax.crypto.spec.SecretKeySpec

/**
 * Tells whether options are the same as before, without keeping a text. The key of the hash is not guessable, and gone
 * with this application: a fingerprint tells nothing about a password.
 */
private[sparkconfig] final class Fingerprint(key: Array[Byte]) {
  import Fingerprint._

  private val spec = new SecretKeySpec(key, Algorithm)

  /** 43 letters and digits of a URL; what belongs to the options, such as the paths of a load, may come with them. */
  def of(options: Map[String, String], more: Seq[String] = Nil): String = {
    val mac = Mac.getInstance(Algorithm)
    mac.init(spec)
    // Lengths in front: no two maps are written alike.
    val texts = options.toSeq.sortBy(_._1).flatMap { case (name, value) => Seq(name, value) } ++ more
    (options.size.toString +: texts).foreach { text =>
      mac.update((if (text == null) "-" else s"${text.length}:$text").getBytes(UTF_8))
    }
    Base64.getUrlEncoder.withoutPadding.encodeToString(mac.doFinal())
  }
}

private[sparkconfig] object Fingerprint {
  private val Algorithm = "HmacSHA256"

  /** A key for one purpose. */
  def derived(key: Array[Byte], purpose: String): Array[Byte] = {
    val mac = Mac.getInstance(Algorithm)
    mac.init(new SecretKeySpec(key, Algorithm))
    mac.doFinal(purpose.getBytes(UTF_8))
  }

  /** Of this process alone. */
  private lazy val own = new Fingerprint(Tokens.bytes(32))

  def of(options: Map[String, String], more: Seq[String] = Nil): String = own.of(options, more)
}
