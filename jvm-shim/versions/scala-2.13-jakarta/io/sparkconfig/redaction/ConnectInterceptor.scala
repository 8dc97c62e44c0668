package io.sparkconfig.redaction

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.util.{ArrayList, List => JList}

import org.sparkproject.connect.google_protos.rpc.{ErrorInfo, Status => RpcStatus}
import org.sparkproject.connect.grpc.{ForwardingServerCall, Metadata, ServerCall, ServerCallHandler, ServerInterceptor, Status}
import org.sparkproject.connect.protobuf.{Any => Packed, Message}
import org.sparkproject.connect.protobuf.Descriptors.FieldDescriptor
import org.sparkproject.connect.protobuf.Descriptors.FieldDescriptor.JavaType

/**
 * Masks values in what a Spark Connect server tells its clients: errors and their details, answers of the
 * configuration calls, explained plans. The plugin names it in `spark.connect.grpc.interceptor.classes`.
 */
class ConnectInterceptor extends ServerInterceptor {
  override def interceptCall[Q, S](
      call: ServerCall[Q, S], headers: Metadata, next: ServerCallHandler[Q, S]): ServerCall.Listener[Q] =
    next.startCall(new ForwardingServerCall.SimpleForwardingServerCall[Q, S](call) {
      override def sendMessage(answer: S): Unit = super.sendMessage(answer match {
        case message: Message if !Redactor.isEmpty =>
          // The server answers an exception with an error, which is redacted in its turn.
          try Protos.redact(message).asInstanceOf[S]
          catch { case fault: Throwable => Redactor.failed(fault); throw Withheld.asRuntimeException() }
        case other => other
      })
      override def close(status: Status, trailers: Metadata): Unit =
        if (status.isOk || Redactor.isEmpty) super.close(status, trailers)
        else {
          val (safe, details) =
            try (Protos.redact(status), Protos.redact(trailers))
            catch { case fault: Throwable => Redactor.failed(fault); (Withheld, new Metadata()) }
          super.close(safe, details)
        }
    }, headers)

  private def Withheld: Status = Status.INTERNAL.withDescription(Redactor.Withheld)
}

private object Protos {
  /**
   * A client gets its own query back to send it again, and the form of its data: changed, it would compute something
   * else.
   */
  private val Untouched = Set(
    "spark.connect.ExecutePlanResponse.SqlCommandResult.relation",
    "spark.connect.ExecutePlanResponse.schema",
    "spark.connect.AnalyzePlanResponse.Schema.schema")

  /** The same instance if no value is in it. */
  def redact(message: Message): Message = message match {
    case packed: Packed => redact(packed)
    case _ =>
      var copy: Message.Builder = null
      message.getAllFields.forEach { (field, value) =>
        if (!Untouched(field.getFullName)) {
          val safe = redact(field, value.asInstanceOf[AnyRef])
          if (safe ne value.asInstanceOf[AnyRef]) {
            if (copy == null) copy = message.toBuilder
            copy.setField(field, safe)
          }
        }
      }
      if (copy == null) message else copy.build()
  }

  private def redact(field: FieldDescriptor, value: AnyRef): AnyRef = value match {
    case list: JList[_] =>
      val safe = new ArrayList[AnyRef](list.size)
      var dirty = false
      list.forEach { element =>
        val each = one(field, element.asInstanceOf[AnyRef])
        dirty ||= each ne element.asInstanceOf[AnyRef]
        safe.add(each)
      }
      if (dirty) safe else list
    case single => one(field, single)
  }

  private def one(field: FieldDescriptor, value: AnyRef): AnyRef = field.getJavaType match {
    case JavaType.STRING => Redactor.redact(value.asInstanceOf[String])
    case JavaType.MESSAGE => redact(value.asInstanceOf[Message])
    case _ => value // rows are bytes, and they are data
  }

  private def redact(packed: Packed): Message =
    if (packed.is(classOf[ErrorInfo])) {
      val info = packed.unpack(classOf[ErrorInfo])
      val safe = redact(info: Message)
      if (safe eq info) packed else Packed.pack(safe)
    } else if (Redactor.contains(packed.getValue.toString(ISO_8859_1))) Packed.getDefaultInstance
    else packed

  def redact(status: Status): Status = {
    val text = status.getDescription
    val safe = Redactor.redact(text)
    val cause = Throwables.redact(status.getCause)
    if ((safe eq text) && (cause eq status.getCause)) status else status.withDescription(safe).withCause(cause)
  }

  def redact(trailers: Metadata): Metadata = {
    val safe = new Metadata()
    trailers.keys.forEach { name =>
      if (name.endsWith(Metadata.BINARY_HEADER_SUFFIX)) {
        val key = Metadata.Key.of(name, Metadata.BINARY_BYTE_MARSHALLER)
        trailers.getAll(key).forEach(bytes => redact(name, bytes).foreach(safe.put(key, _)))
      } else {
        val key = Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER)
        trailers.getAll(key).forEach(text => safe.put(key, Redactor.redact(text)))
      }
    }
    safe
  }

  /** What cannot be searched and holds a value is left out. */
  private def redact(name: String, bytes: Array[Byte]): Option[Array[Byte]] =
    if (name == "grpc-status-details-bin") Some(redact(RpcStatus.parseFrom(bytes): Message).toByteArray)
    else Some(bytes).filterNot(raw => Redactor.contains(new String(raw, ISO_8859_1)))
}
