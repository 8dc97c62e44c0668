package io.sparkconfig.policy.doors

import java.io.{InputStream, OutputStream}
import java.security.{DigestInputStream, MessageDigest}

import scala.collection.JavaConverters._

import io.sparkconfig.policy.StatementItem.statement
import io.sparkconfig.policy.{Requester, StatementItem}
import org.apache.spark.connect.proto.AddArtifactsRequest.ArtifactChunk
import org.apache.spark.connect.proto.{AddArtifactsRequest, LocalRelation}
import org.apache.spark.sql.connect.sparkconfig.ClientRows
import org.sparkproject.connect.protobuf.CodedInputStream

/**
 * Rows that a client sends ahead of the plan that uses them. They are read when a plan names them, since only the plan
 * says what they are. They cannot change in between: their name is the digest of their content, as it was sent and as
 * it lies there.
 */
private[doors] object ConnectRows {
  val Place = "cache/"

  /** As much as a schema may have: with text of any length a client could fill the server's memory. */
  private val MostBytes = 64 << 20

  /** A relation that was sent ahead. */
  def relation(who: Requester, name: String): Option[LocalRelation] = read(who, name) { (open, _) =>
    val input = CodedInputStream.newInstance(open())
    input.setSizeLimit(Int.MaxValue)
    LocalRelation.parseFrom(input)
  }

  /** Of rows that were sent ahead by themselves: what [[ArrowRows]] says of them, and their length. */
  def taken(who: Requester, name: String): Option[(Option[Long], Long)] = read(who, name) { (open, length) =>
    (ArrowRows.taken(open, length), length)
  }

  /** A schema that was sent ahead by itself. */
  def schema(who: Requester, name: String): Option[LocalRelation] = read(who, name) { (open, _) =>
    val bytes = open().readNBytes(MostBytes)
    if (bytes.length == MostBytes) throw new IllegalArgumentException("the schema is too large")
    LocalRelation.newBuilder().setSchema(new String(bytes, "UTF-8")).build()
  }

  private def read[T](who: Requester, name: String)(reader: (() => InputStream, Long) => T): Option[T] =
    ClientRows.read(who.user, who.session, name) { (open, length) =>
      val digest = MessageDigest.getInstance("SHA-256")
      new DigestInputStream(open(), digest).transferTo(OutputStream.nullOutputStream())
      if (hex(digest) == name) Some(reader(open, length)) else None
    }.flatten

  def hex(digest: MessageDigest): String = digest.digest.map(each => f"$each%02x").mkString
}

/**
 * One call in which a client sends artifacts. What lies under [[ConnectRows.Place]] and is not named by its digest is
 * an artifact like any other. The server would add chunks to an artifact that it has begun whatever comes between them.
 */
private[doors] final class ConnectRows {
  private val digest = MessageDigest.getInstance("SHA-256")
  private var name = ""
  private var chunks = 0L

  /** What the policies are asked about besides, now that this message ends what came before it. */
  def items(message: Any): Set[StatementItem] = message match {
    case request: AddArtifactsRequest if request.hasChunk != (chunks > 0) => Set(outOfTurn)
    case request: AddArtifactsRequest if request.hasChunk => more(request.getChunk)
    case request: AddArtifactsRequest if request.hasBeginChunk =>
      val begun = request.getBeginChunk
      begin(begun.getName, begun.getNumChunks)
      more(begun.getInitialChunk)
    case request: AddArtifactsRequest =>
      request.getBatch.getArtifactsList.asScala.flatMap { each =>
        begin(each.getName, 1)
        more(each.getData)
      }.toSet
    case _ => Set.empty
  }

  /** The same at the end of the call. */
  def end(): Set[StatementItem] = if (chunks > 0) Set(outOfTurn) else Set.empty

  private def outOfTurn = statement("add-artifact", s"$name: its chunks are not sent one after the other")

  private def begin(called: String, all: Long): Unit = {
    name = called
    chunks = math.max(all, 1)
    digest.reset()
  }

  private def more(chunk: ArtifactChunk): Set[StatementItem] = {
    digest.update(chunk.getData.asReadOnlyByteBuffer)
    chunks -= 1
    val isOther =
      chunks == 0 && name.startsWith(ConnectRows.Place) && name != ConnectRows.Place + ConnectRows.hex(digest)
    if (isOther) Set(statement("add-artifact", name)) else Set.empty
  }
}
