package io.sparkconfig.executor

import java.nio.charset.StandardCharsets.UTF_8
import java.security.SecureRandom
import javax.crypto.Cipher
import javax.crypto.spec.{GCMParameterSpec, SecretKeySpec}

import io.sparkconfig.agent.Json
import io.sparkconfig.binding.Snapshot

/**
 * AES-256-GCM over a snapshot: nonce (12 bytes), ciphertext, tag (16 bytes); the generation is authenticated, so
 * that an old block cannot pass for a new one. The form is that of `cryptography`'s AESGCM in Python.
 */
private[sparkconfig] final class SnapshotCipher(key: Array[Byte]) {
  import SnapshotCipher._

  def encrypt(snapshot: Snapshot): Array[Byte] = {
    val nonce = new Array[Byte](NonceBytes)
    random.nextBytes(nonce)
    nonce ++ cipher(Cipher.ENCRYPT_MODE, nonce, snapshot.generation).doFinal(Json.bytes(snapshot.toJson))
  }

  def decrypt(generation: Long, sealedBytes: Array[Byte]): Snapshot = {
    val nonce = sealedBytes.take(NonceBytes)
    val plain = cipher(Cipher.DECRYPT_MODE, nonce, generation)
      .doFinal(sealedBytes, NonceBytes, sealedBytes.length - NonceBytes)
    Snapshot.fromJson(Json.parse(plain))
  }

  private def cipher(mode: Int, nonce: Array[Byte], generation: Long): Cipher = {
    val made = Cipher.getInstance("AES/GCM/NoPadding")
    made.init(mode, new SecretKeySpec(key, "AES"), new GCMParameterSpec(TagBits, nonce))
    made.updateAAD(s"sparkconfig|$generation".getBytes(UTF_8))
    made
  }
}

private[sparkconfig] object SnapshotCipher {
  private val NonceBytes = 12
  private val TagBits = 128
  private val KeyBytes = 32
  private val random = new SecureRandom()

  def newKey(): Array[Byte] = {
    val key = new Array[Byte](KeyBytes)
    random.nextBytes(key)
    key
  }
}
