package io.sparkconfig.redaction.sinks

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.util.{ArrayList, List => JList}

import scala.jdk.CollectionConverters._

import io.sparkconfig.policy.{Requester, ShownConfs}
import io.sparkconfig.redaction.engine.{Client, Intervals, JsonStrings, Redactor, Throwables}
import org.apache.spark.SparkEnv
import org.apache.spark.connect.proto.{
  ConfigRequest,
  ConfigResponse,
  ExecutePlanRequest,
  ExecutePlanResponse,
  FetchErrorDetailsRequest,
  FetchErrorDetailsResponse,
  KeyValue,
  KeyValueOrBuilder,
  ReattachExecuteRequest
}
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
  Requester.connectStarts()

  override def interceptCall[Q, S](
      call: ServerCall[Q, S],
      headers: Metadata,
      next: ServerCallHandler[Q, S]): ServerCall.Listener[Q] = {
    @volatile var asked: Message = null
    @volatile var client = Client.Unknown
    def protos = new Protos((key, value) => ClientConfs.knows(asked, key, value), client)
    // The server answers an exception with an error, which is redacted in its turn.
    def safely[T](withheld: => T)(made: => T): T =
      try made
      catch { case fault: Throwable => Redactor.failed(fault); withheld }
    val listener = next.startCall(
      new ForwardingServerCall.SimpleForwardingServerCall[Q, S](call) {
        override def sendMessage(answer: S): Unit = super.sendMessage(answer match {
          case message: Message =>
            ClientConfs.note(asked, message)
            val shown = ClientConfs.shown(asked, message)
            if (Redactor.isEmpty) shown.asInstanceOf[S]
            else safely(throw Withheld.asRuntimeException()) {
              ClientTexts.note(shown, client)
              protos.redact(shown).asInstanceOf[S]
            }
          case other => other
        })
        override def close(status: Status, trailers: Metadata): Unit =
          if (status.isOk || Redactor.isEmpty) super.close(status, trailers)
          else {
            val (safe, details) = safely((Withheld, new Metadata())) {
              val ofError = protos.ofError(ErrorDetails.of(trailers), client)
              (ofError.redact(status), ofError.redact(trailers))
            }
            super.close(safe, details)
          }
      },
      headers)
    new ForwardingServerCallListener.SimpleForwardingServerCallListener[Q](listener) {
      override def onMessage(question: Q): Unit = {
        question match {
          case message: Message =>
            asked = message
            client = ClientTexts.of(message)
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

  /** Once the server has set them. Statements that set confs are noted where they run. */
  def note(request: Message, answer: Message): Unit = (request, answer) match {
    case (config: ConfigRequest, _: ConfigResponse) =>
      val session = of(config)
      val done = config.getOperation
      if (done.hasSet) done.getSet.getPairsList.forEach(pair => OwnConfs.note(session, pair.getKey, pair.getValue))
      if (done.hasUnset) done.getUnset.getKeysList.forEach(key => OwnConfs.forget(session, Some(key)))
    case _ =>
  }

  /** The answer without the values of confs that are not for clients. */
  def shown(request: Message, answer: Message): Message = answer match {
    case found: ConfigResponse if found.getPairsList.asScala.exists(isHidden(request, _)) =>
      val made = found.toBuilder
      made.getPairsBuilderList.forEach(pair => if (isHidden(request, pair)) pair.setValue(ShownConfs.Hidden): Unit)
      made.build()
    case other => other
  }

  private def isHidden(request: Message, pair: KeyValueOrBuilder): Boolean =
    pair.hasValue && ShownConfs.hides(pair.getKey) && !knows(request, pair.getKey, pair.getValue)

  private def of(request: ConfigRequest): String =
    OwnConfs.ofConnect(request.getUserContext.getUserId, request.getSessionId)

  /** Also whether it is the default that the client has given, for a conf that the server does not have. */
  def knows(request: Message, key: String, value: String): Boolean = request match {
    case config: ConfigRequest =>
      def isDefault = config.getOperation.getGetWithDefault.getPairsList.asScala.exists(pair =>
        pair.getKey == key && pair.getValue == value) && !SparkEnv.get.conf.contains(key)
      OwnConfs.knows(of(config), key, value) || isDefault
    case _ => false
  }
}

/** What clients have written in their requests. */
private object ClientTexts {

  /** By what answers of other calls name: an error, an operation, a streaming query. */
  private val known = new Client.ById

  def of(request: Message): Client = request match {
    case details: FetchErrorDetailsRequest => known.get(details.getErrorId)
    case again: ReattachExecuteRequest => known.get(again.getOperationId)
    case execute: ExecutePlanRequest if execute.getPlan.getCommand.hasStreamingQueryCommand =>
      known.get(execute.getPlan.getCommand.getStreamingQueryCommand.getQueryId.getId)
    case execute: ExecutePlanRequest =>
      val client = clientOf(execute)
      known.put(execute.getOperationId, client)
      client
    case other => clientOf(other)
  }

  /** Holds the request's texts alone, not its rows. */
  private def clientOf(request: Message): Client = { val written = texts(request); new Client(written) }

  def note(answer: Message, client: Client): Unit = answer match {
    case started: ExecutePlanResponse if started.hasWriteStreamOperationStartResult =>
      known.put(started.getWriteStreamOperationStartResult.getQueryId.getId, client)
    case _ =>
  }

  def note(error: ErrorInfo, client: Client): Unit =
    if (client ne Client.Unknown) known.put(error.getMetadataMap.getOrDefault("errorId", ""), client)

  private def texts(message: Message): Seq[String] = {
    val found = Seq.newBuilder[String]
    def each(value: AnyRef): Unit = value match {
      case text: String => found += text
      case inner: Message => inner.getAllFields.values.forEach(field => each(field.asInstanceOf[AnyRef]))
      case list: JList[_] => list.forEach(element => each(element.asInstanceOf[AnyRef]))
      case _ => ()
    }
    each(message)
    found.result()
  }
}

/** What the server says about an error beside its text. */
private object ErrorDetails {
  val Key = "grpc-status-details-bin"

  def of(trailers: Metadata): Option[ErrorInfo] =
    Option(trailers.get(Metadata.Key.of(Key, Metadata.BINARY_BYTE_MARSHALLER))).flatMap { bytes =>
      val packed = RpcStatus.parseFrom(bytes).getDetailsList.iterator()
      Iterator.continually(packed).takeWhile(_.hasNext).map(_.next()).find(_.is(classOf[ErrorInfo]))
        .map(_.unpack(classOf[ErrorInfo]))
    }

  /** Its states; null for a cause, which the stack trace alone may name. */
  def states(error: ErrorInfo): Seq[String] = {
    val more = error.getMetadataMap
    Seq(more.get("sqlState")) ++ (if (more.getOrDefault("stackTrace", "").contains("Caused by:")) Seq(null) else Nil)
  }
}

/**
 * @param ofConf whether the client has set this conf to this value
 * @param client who has written what this answers
 */
private final class Protos(ofConf: (String, String) => Boolean, client: Client) {
  import Protos._

  /** For what tells of an error. */
  def ofError(error: Option[ErrorInfo], client: Client): Protos = error.fold(this) { info =>
    ClientTexts.note(info, client)
    new Protos(ofConf, client.ofError(ErrorDetails.states(info)))
  }

  /** The same instance if no value is in its free text. */
  def redact(message: Message): Message = message match {
    case details: FetchErrorDetailsResponse if client ne client.ofError(states(details)) =>
      new Protos(ofConf, client.ofError(states(details))).redactFields(details)
    case packed: Packed => redact(packed)
    case pair: KeyValue =>
      if (ofConf(pair.getKey, pair.getValue)) pair
      else {
        val safe = Redactor.redact(pair.getValue, Client.Unknown)
        if (safe eq pair.getValue) pair else pair.toBuilder.setValue(safe).build()
      }
    case programs if isForPrograms(programs.getDescriptorForType.getFullName) => programs
    case _ => redactFields(message)
  }

  private def states(details: FetchErrorDetailsResponse): Seq[String] =
    details.getErrorsList.asScala.map(error =>
      if (error.hasSparkThrowable && error.getSparkThrowable.hasSqlState) error.getSparkThrowable.getSqlState
      else null).toSeq

  private def redactFields(message: Message): Message = {
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
    case JavaType.STRING if Events(field.getFullName) => StreamJson.redact(value.asInstanceOf[String], client)
    case JavaType.STRING => Redactor.redact(value.asInstanceOf[String], client)
    case JavaType.MESSAGE => redact(value.asInstanceOf[Message])
    case _ => value // rows are bytes, and they are data
  }

  private def redact(packed: Packed): Message =
    if (packed.is(classOf[ErrorInfo])) {
      val info = packed.unpack(classOf[ErrorInfo])
      val safe = redact(info: Message)
      if (safe eq info) packed else Packed.pack(safe)
    } else if (Redactor.contains(packed.getValue.toString(ISO_8859_1), client)) Packed.getDefaultInstance
    else packed

  def redact(status: Status): Status = {
    val text = status.getDescription
    val safe = Redactor.redact(text, client)
    val cause = Throwables.redact(status.getCause, client)
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
        trailers.getAll(key).forEach(text => safe.put(key, Redactor.redact(text, client)))
      }
    }
    safe
  }

  /** What cannot be searched and holds a value is left out. */
  private def redact(name: String, bytes: Array[Byte]): Option[Array[Byte]] =
    if (name == ErrorDetails.Key) Some(redact(RpcStatus.parseFrom(bytes): Message).toByteArray)
    else Some(bytes).filterNot(raw => Redactor.contains(new String(raw, ISO_8859_1), client))
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

/** The JSON of streaming progress and of a stream's end: names, numbers and states are for programs. */
private object StreamJson {
  private val Texts = Set("exception", "message", "description", "errorClassOnException")

  def redact(text: String, client: Client): String = {
    def keep: Intervals = {
      val kept = new Intervals
      JsonStrings.each(text) { (start, end, isKey, path) =>
        if (isKey || !path.headOption.exists(Texts)) kept.add(start, end)
      }
      kept
    }
    Redactor.redactExcept(text, json = true, keep, client)
  }
}
