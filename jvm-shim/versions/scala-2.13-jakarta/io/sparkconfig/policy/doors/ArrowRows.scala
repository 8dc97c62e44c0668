package io.sparkconfig.policy.doors

import java.io.{DataInputStream, InputStream}
import java.nio.ByteBuffer

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import org.apache.arrow.memory.RootAllocator
import org.apache.arrow.vector.complex.{LargeListVector, ListVector}
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

  /**
   * Whether every length, offset and count in a stream of rows stays within it.
   *
   * @param open makes the stream, from its beginning
   */
  def areWhole(open: () => InputStream, length: Long): Boolean =
    try areFramed(new DataInputStream(open()), length) && areWithin(open(), new RootAllocator(most(length)))
    catch { case NonFatal(_) | _: StackOverflowError => false }

  /** Arrow allocates what a message says, before it reads. */
  private def areFramed(stream: DataInputStream, length: Long): Boolean = {
    var left = length
    def size(): Int = { left -= Integer.BYTES; Integer.reverseBytes(stream.readInt()) }
    def next(): Int = Some(size()).filter(_ != MessageSerializer.IPC_CONTINUATION_TOKEN).getOrElse(size())
    var own = 1
    while (left > 0 && own > 0) {
      own = next()
      if (own > left) return false
      if (own > 0) {
        val body = MessageMetadataResult.create(ByteBuffer.wrap(stream.readNBytes(own)), own).getMessageBodyLength
        left -= own
        if (body < 0 || body > left) return false
        stream.skipNBytes(body)
        left -= body
      }
    }
    own >= 0
  }

  private def areWithin(stream: InputStream, memory: RootAllocator): Boolean =
    try {
      val reader = new ArrowStreamReader(stream, memory)
      try {
        val root = reader.getVectorSchemaRoot
        var within = true
        while (within && reader.loadNextBatch()) {
          within = root.getFieldVectors.asScala.forall(column =>
            column.getValueCount == root.getRowCount && isWithin(column))
        }
        within
      } finally reader.close()
    } finally memory.close()

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
