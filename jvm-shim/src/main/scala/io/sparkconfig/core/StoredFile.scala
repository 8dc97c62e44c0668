package io.sparkconfig.core

import java.nio.ByteBuffer
import java.nio.charset.{CharacterCodingException, StandardCharsets}
import java.util.{Arrays, Base64}

/**
 * A value that clients need as a file.
 *
 * @param id the same for files of equal name and content, and telling nothing of the content
 * @param name what the file's name ends with
 */
final class StoredFile(val id: String, val name: String, val content: Array[Byte]) {

  /** What represents the path in values until this process has written the file. Python forms the same text. */
  def marker: String = s"\u0002sparkconfig-file:${id}\u0003"

  def fileName: String = s"$id-$name"

  /** The texts by which redaction recognises the content. */
  def secretTexts: Seq[String] =
    try Seq(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(content)).toString)
    catch { case _: CharacterCodingException => Seq(Base64.getEncoder.encodeToString(content)) }

  override def equals(other: Any): Boolean = other match {
    case that: StoredFile => id == that.id && name == that.name && Arrays.equals(content, that.content)
    case _ => false
  }

  override def hashCode: Int = id.hashCode

  /** Never the content. */
  override def toString: String = s"StoredFile($name)"
}
