package io.sparkconfig.policy.doors

import java.io.{DataInputStream, InputStream}
import java.nio.ByteBuffer

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import org.apache.arrow.flatbuf.{Message, MessageHeader, RecordBatch}
import org.apache.arrow.memory.RootAllocator
import org.apache.arrow.vector.complex.{FixedSizeListVector, LargeListVector, ListVector}
import org.apache.arrow.vector.ipc.ArrowStreamReader
import org.apache.arrow.vector.ipc.message.{MessageMetadataResult, MessageSerializer}
import org.apache.arrow.vector.validate.{ValidateVectorBufferVisitor, ValidateVectorDataVisitor}
import org.apache.arrow.vector.{BaseLargeVariableWidthVector, BaseVariableWidthVector, FieldVector}

/**
 * Rows of Arrow, before Spark reads them. Spark takes an address in the server's memory from offsets that stand in the
 * rows and checks none: what lies there would become data, or the server would end.
 */
private[doors] object ArrowRows {

  /** Arrow rounds what it allocates up, and a batch is as long as its part of the stream. */
  private def most(length: Long): Long = 4 * length + (1 << 20)

  /** In bytes, what Spark takes at least for a row, and for each value in it: those of the type Null are not sent. */
  private val PerRow = 64L
  private val PerValue = 8L

  /**
   * The bytes that Spark takes at least for a stream of rows; None: a length, offset or count leads out of it.
   *
   * @param open makes the stream, from its beginning
   */
  def taken(open: () => InputStream, length: Long): Option[Long] =
    try if (areFramed(new DataInputStream(open()), length)) within(open(), new RootAllocator(most(length))) else None
    catch { case NonFatal(_) | _: StackOverflowError => None }

  /**
   * Arrow allocates what a message says, before it reads, and more than that: a part that leaves the body of its
   * message would still be within, in memory that others had. No client compresses such rows or sends dictionaries.
   */
  private def areFramed(stream: DataInputStream, length: Long): Boolean = {
    var left = length
    def size(): Int = { left -= Integer.BYTES; Integer.reverseBytes(stream.readInt()) }
    def next(): Int = Some(size()).filter(_ != MessageSerializer.IPC_CONTINUATION_TOKEN).getOrElse(size())
    var own = 1
    while (left > 0 && own > 0) {
      own = next()
      if (own > left) return false
      if (own > 0) {
        val message = MessageMetadataResult.create(ByteBuffer.wrap(stream.readNBytes(own)), own)
        val body = message.getMessageBodyLength
        left -= own
        if (body < 0 || body > left || !isWithin(message.getMessage, body, own)) return false
        stream.skipNBytes(body)
        left -= body
      }
    }
    own >= 0
  }

  /** @param own the length of the message's own part, in which each buffer of a batch takes 16 bytes */
  private def isWithin(message: Message, body: Long, own: Int): Boolean = message.headerType match {
    case MessageHeader.Schema => body == 0
    case MessageHeader.RecordBatch =>
      val batch = message.header(new RecordBatch).asInstanceOf[RecordBatch]
      val counts = Seq(batch.buffersLength, batch.nodesLength)
      batch.compression == null && counts.forall(count => count >= 0 && count <= own / 16) &&
      (0 until batch.buffersLength).forall { number =>
        val each = batch.buffers(number)
        each.offset >= 0 && each.length >= 0 && each.offset <= body - each.length
      }
    case _ => false
  }

  private def within(stream: InputStream, memory: RootAllocator): Option[Long] =
    try {
      val reader = new ArrowStreamReader(stream, memory)
      try {
        val root = reader.getVectorSchemaRoot
        val columns = root.getFieldVectors.asScala
        var taken: Option[Long] = Some(0L)
        while (taken.nonEmpty && reader.loadNextBatch()) {
          val isWhole = columns.forall(column => column.getValueCount == root.getRowCount && isWithin(column))
          taken = taken.filter(_ => isWhole).map(_ + root.getRowCount * PerRow + columns.map(values(_)).sum * PerValue)
        }
        taken
      } finally reader.close()
    } finally memory.close()

  private def values(vector: FieldVector): Long = {
    val below = vector match {
      case list: FixedSizeListVector => list.getValueCount.toLong * list.getListSize
      case _ => 0L
    }
    vector.getValueCount + math.max(below, vector.getChildrenFromFields.asScala.map(values(_)).sum)
  }

  /** Arrow's own checks throw, and look at each offset but the first; the one of types takes maps for wrong lists. */
  private def isWithin(column: FieldVector): Boolean = {
    column.accept(new ValidateVectorBufferVisitor, null)
    column.accept(new ValidateVectorDataVisitor, null)
    beginsWithin(column)
  }

  private def beginsWithin(vector: FieldVector): Boolean = {
    val first = vector match {
      case _ if vector.getValueCount == 0 => 0L
      case _: BaseVariableWidthVector | _: ListVector => vector.getOffsetBuffer.getInt(0).toLong
      case _: BaseLargeVariableWidthVector | _: LargeListVector => vector.getOffsetBuffer.getLong(0)
      case _ => 0L
    }
    first >= 0 && vector.getChildrenFromFields.asScala.forall(beginsWithin)
  }
}
