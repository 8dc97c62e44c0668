package io.sparkconfig.redaction.sinks

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.util.{ArrayList, List => JList}

import io.sparkconfig.redaction.engine.{Redactor, StreamJson, Throwables}
import org.apache.spark.connect.proto.{ConfigRequest, ExecutePlanRequest, KeyValue}
import org.sparkproject.connect.google_protos.rpc.{ErrorInfo, Status => RpcStatus}
import org.sparkproject.connect.grpc.{
  ForwardingServerCall,
  ForwardingServerCallListener,
  Metadata,
  ServerCall,
  ServerCallHandler,
  ServerInterceptor,
  Status
}
import org.sparkproject.connect.protobuf.Descriptors.FieldDescriptor
import org.sparkproject.connect.protobuf.Descriptors.FieldDescriptor.JavaType
import org.sparkproject.connect.protobuf.{Any => Packed, Message}

/**
 * Masks values in what a Spark Connect server tells its clients in free text: errors and their details, explained
 * plans, statuses, and confs that the client has not set itself. The plugin names it in
 * `spark.connect.grpc.interceptor.classes`.
 */
class ConnectInterceptor extends ServerInterceptor {
  override def interceptCall[Q, S](
      call: ServerCall[Q, S],
      headers: Metadata,
      next: ServerCallHandler[Q, S]): ServerCall.Listener[Q] = {
    @volatile var client = ""
    val protos = new Protos((key, value) => ClientConfs.knows(client, key, value))
    val listener = next.startCall(
      new ForwardingServerCall.SimpleForwardingServerCall[Q, S](call) {
        override def sendMessage(answer: S): Unit = super.sendMessage(answer match {
          case message: Message if !Redactor.isEmpty =>
            // The server answers an exception with an error, which is redacted in its turn.
            try protos.redact(message).asInstanceOf[S]
            catch { case fault: Throwable => Redactor.failed(fault); throw Withheld.asRuntimeException() }
          case other => other
        })
        override def close(status: Status, trailers: Metadata): Unit =
          if (status.isOk || Redactor.isEmpty) super.close(status, trailers)
          else {
            val (safe, details) =
              try (protos.redact(status), protos.redact(trailers))
              catch { case fault: Throwable => Redactor.failed(fault); (Withheld, new Metadata()) }
            super.close(safe, details)
          }
      },
      headers)
    new ForwardingServerCallListener.SimpleForwardingServerCallListener[Q](listener) {
      override def onMessage(question: Q): Unit = {
        question match {
          case request: ConfigRequest => client = ClientConfs.note(request)
          case request: ExecutePlanRequest => ClientConfs.note(request)
          case _ =>
        }
        super.onMessage(question)
      }
    }
  }

  private def Withheld: Status = Status.INTERNAL.withDescription(Redactor.Withheld)
}

/** The confs that clients of this server have set themselves. */
private object ClientConfs {
  private val known = new OwnConfs

  /** @return whose request this is */
  def note(request: ConfigRequest): String = {
    val client = of(request.getUserContext.getUserId, request.getSessionId)
    if (request.getOperation.hasSet)
      request.getOperation.getSet.getPairsList.forEach(pair => known.note(client + pair.getKey, pair.getValue))
    client
  }

  /** Statements set confs too. */
  def note(request: ExecutePlanRequest): Unit = {
    val command = request.getPlan.getCommand.getSqlCommand
    val text = if (command.getInput.hasSql) command.getInput.getSql.getQuery else command.getSql
    OwnConfs.setBy(text).foreach { case (key, value) =>
      known.note(of(request.getUserContext.getUserId, request.getSessionId) + key, value)
    }
  }

  private def of(user: String, session: String): String = s"$user\u0000$session\u0000"

  def knows(client: String, key: String, value: String): Boolean = known.knows(client + key, value)
}

/** @param own whether the client has set this conf to this value */
private final class Protos(own: (String, String) => Boolean) {
  import Protos._

  /** The same instance if no value is in its free text. */
  def redact(message: Message): Message = message match {
    case packed: Packed => redact(packed)
    case pair: KeyValue =>
      if (own(pair.getKey, pair.getValue)) pair
      else {
        val safe = Redactor.redactAnswer(pair.getValue)
        if (safe eq pair.getValue) pair else pair.toBuilder.setValue(safe).build()
      }
    case programs if isForPrograms(programs.getDescriptorForType.getFullName) => programs
    case _ =>
      var copy: Message.Builder = null
      message.getAllFields.forEach { (field, value) =>
        if (!isForPrograms(field.getFullName) && !isOfError(message, field)) {
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
    case JavaType.STRING if Events(field.getFullName) => StreamJson.redact(value.asInstanceOf[String])
    case JavaType.STRING => Redactor.redactAnswer(value.asInstanceOf[String])
    case JavaType.MESSAGE => redact(value.asInstanceOf[Message])
    case _ => value // rows are bytes, and they are data
  }

  private def redact(packed: Packed): Message =
    if (packed.is(classOf[ErrorInfo])) {
      val info = packed.unpack(classOf[ErrorInfo])
      val safe = redact(info: Message)
      if (safe eq info) packed else Packed.pack(safe)
    } else if (Redactor.containsAnswer(packed.getValue.toString(ISO_8859_1))) Packed.getDefaultInstance
    else packed

  def redact(status: Status): Status = {
    val text = status.getDescription
    val safe = Redactor.redactAnswer(text)
    val cause = Throwables.redactAnswer(status.getCause)
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
        trailers.getAll(key).forEach(text => safe.put(key, Redactor.redactAnswer(text)))
      }
    }
    safe
  }

  /** What cannot be searched and holds a value is left out. */
  private def redact(name: String, bytes: Array[Byte]): Option[Array[Byte]] =
    if (name == "grpc-status-details-bin") Some(redact(RpcStatus.parseFrom(bytes): Message).toByteArray)
    else Some(bytes).filterNot(raw => Redactor.containsAnswer(new String(raw, ISO_8859_1)))
}

private object Protos {

  /**
   * Messages and fields by which a program decides, or which its client sends back: changed, it would compute
   * something else. All others are free text; those of coming versions too, until they stand here.
   */
  private val ForPrograms = Set(
    "Relation",
    "Plan",
    "DataType",
    "Expression",
    "Expression.Literal",
    "StorageLevel",
    "CachedRemoteRelation",
    "ObjectRef",
    "ResolvedIdentifier",
    "ResourceInformation",
    "GetResourcesCommandResult",
    "StreamingQueryInstanceId",
    "StreamingQueryManagerCommandResult",
    "WriteStreamOperationStartResult",
    "PipelineQueryFunctionExecutionSignal",
    "MlParams",
    "MlCommandResult.MlOperatorInfo.name",
    "MlCommandResult.MlOperatorInfo.uid",
    "ExecutePlanResponse.Metrics",
    "ExecutePlanResponse.ObservedMetrics.name",
    "ExecutePlanResponse.ObservedMetrics.keys",
    "AnalyzePlanResponse.Schema",
    "AnalyzePlanResponse.TreeString",
    "AnalyzePlanResponse.InputFiles",
    "AnalyzePlanResponse.SparkVersion",
    "AnalyzePlanResponse.DDLParse",
    "AnalyzePlanResponse.JsonToDDL",
    "AddArtifactsResponse",
    "ArtifactStatusesResponse",
    "InterruptResponse",
    "StreamingQueryCommandResult.ExceptionResult.error_class",
    "FetchErrorDetailsResponse.Error.error_type_hierarchy",
    "FetchErrorDetailsResponse.StackTraceElement",
    "FetchErrorDetailsResponse.SparkThrowable.error_class",
    "FetchErrorDetailsResponse.SparkThrowable.sql_state",
    "FetchErrorDetailsResponse.SparkThrowable.MessageParametersEntry.key",
    "FetchErrorDetailsResponse.QueryContext.object_type",
    "FetchErrorDetailsResponse.QueryContext.object_name",
    "FetchErrorDetailsResponse.MitigationConfig.key")
    .map("spark.connect." + _) ++ Set(
    "google.rpc.ErrorInfo.reason",
    "google.rpc.ErrorInfo.domain",
    "google.rpc.ErrorInfo.MetadataEntry.key")

  /** Texts that are JSON about streams. */
  private val Events = Set(
    "spark.connect.StreamingQueryCommandResult.RecentProgressResult.recent_progress_json",
    "spark.connect.StreamingQueryListenerEvent.event_json")

  /** By these a client makes an exception of the right class and asks for more about it. */
  private val OfErrors = Set("errorId", "errorClass", "sqlState", "classes")

  /** By its full name; the ids of sessions, operations and plans are in all messages. */
  def isForPrograms(name: String): Boolean = ForPrograms(name) || name.endsWith("_id") || name.endsWith(".id")

  private def isOfError(entry: Message, field: FieldDescriptor): Boolean =
    field.getFullName == "google.rpc.ErrorInfo.MetadataEntry.value" &&
      OfErrors(entry.getField(entry.getDescriptorForType.findFieldByName("key")).toString)
}
