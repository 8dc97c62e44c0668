package io.sparkconfig.executor

import java.nio.charset.StandardCharsets.UTF_8
import javax.crypto.Cipher
import javax.crypto.spec.{GCMParameterSpec, SecretKeySpec}

import io.sparkconfig.core.{Fingerprint, Json, Snapshot, Tokens}

/**
 * AES-256-GCM over a snapshot: nonce (12 bytes), ciphertext, tag (16 bytes); the generation is authenticated, so
 * that an old block cannot pass for a new one. The form is the one that Python's `cryptography` uses for AESGCM.
 */
private[sparkconfig] final class SnapshotCipher(key: Array[Byte]) {
  import SnapshotCipher._

  /** Of texts that driver and executors have to tell apart without a value. */
  val fingerprint: Fingerprint = new Fingerprint(Fingerprint.derived(key, "grants"))

  def encrypt(snapshot: Snapshot): Array[Byte] =
    encrypt(bound(snapshot.generation), Json.bytes(snapshot.toJson))

  def decrypt(generation: Long, sealedBytes: Array[Byte]): Snapshot =
    Snapshot.fromJson(Json.parse(open(bound(generation), sealedBytes)))

  /** Values for redaction alone, bound to their number; see [[MaskHistory]]. */
  def encrypt(masks: Long, values: Seq[String]): Array[Byte] = {
    val array = Json.array()
    values.foreach(array.add(_))
    encrypt(boundMasks(masks), Json.bytes(array))
  }

  def decryptMasks(masks: Long, sealedBytes: Array[Byte]): Seq[String] =
    Json.texts(Json.parse(open(boundMasks(masks), sealedBytes)))

  private def bound(generation: Long): String = s"sparkconfig|$generation"

  private def boundMasks(masks: Long): String = s"sparkconfig|masks|$masks"

  private def encrypt(bound: String, plain: Array[Byte]): Array[Byte] = {
    val nonce = Tokens.bytes(NonceBytes)
    nonce ++ cipher(Cipher.ENCRYPT_MODE, nonce, bound).doFinal(plain)
  }

  private def open(bound: String, sealedBytes: Array[Byte]): Array[Byte] =
    cipher(Cipher.DECRYPT_MODE, sealedBytes.take(NonceBytes), bound)
      .doFinal(sealedBytes, NonceBytes, sealedBytes.length - NonceBytes)

  private def cipher(mode: Int, nonce: Array[Byte], bound: String): Cipher = {
    val made = Cipher.getInstance("AES/GCM/NoPadding")
    made.init(mode, new SecretKeySpec(key, "AES"), new GCMParameterSpec(TagBits, nonce))
    made.updateAAD(bound.getBytes(UTF_8))
    made
  }
}

private[sparkconfig] object SnapshotCipher {
  private val NonceBytes = 12
  private val TagBits = 128
  private val KeyBytes = 32

  def newKey(): Array[Byte] = Tokens.bytes(KeyBytes)
}
