package io.sparkconfig.core

import java.security.SecureRandom
import java.util.Base64

/** Random texts that cannot be guessed. */
private[sparkconfig] object Tokens {
  private lazy val random = new SecureRandom()

  def bytes(count: Int): Array[Byte] = {
    val made = new Array[Byte](count)
    random.nextBytes(made)
    made
  }

  /** 256 bits, as text without signs that a shell or a URL would read. */
  def text(): String = Base64.getUrlEncoder.withoutPadding.encodeToString(bytes(32))

  /** 128 bits in hexadecimal digits. */
  def hex(): String = bytes(16).map(byte => f"$byte%02x").mkString
}
