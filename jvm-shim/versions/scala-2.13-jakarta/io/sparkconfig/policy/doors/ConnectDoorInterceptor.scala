package io.sparkconfig.policy.doors

import io.sparkconfig.policy.Requester
import org.apache.spark.sql.sparkconfig.PolicyViolationException
import org.sparkproject.connect.google_protos.rpc.{ErrorInfo, Status => RpcStatus}
import org.sparkproject.connect.grpc.{
  ForwardingServerCallListener,
  Metadata,
  ServerCall,
  ServerCallHandler,
  ServerInterceptor,
  Status
}
import org.sparkproject.connect.protobuf.{Any => Packed}

/** Asks the policies about each message of a Spark Connect client before the server sees it. */
class ConnectDoorInterceptor extends ServerInterceptor {
  import ConnectDoorInterceptor._
  Requester.connectStarts()
  ConnectStatements.check()

  override def interceptCall[Q, S](
      call: ServerCall[Q, S],
      headers: Metadata,
      next: ServerCallHandler[Q, S]): ServerCall.Listener[Q] =
    if (isCompressed(headers)) {
      call.close(Status.PERMISSION_DENIED.withDescription(Compressed), details(Compressed))
      new ServerCall.Listener[Q] {}
    } else judged(call, headers, next)

  private def judged[Q, S](call: ServerCall[Q, S], headers: Metadata, next: ServerCallHandler[Q, S]) =
    new ForwardingServerCallListener.SimpleForwardingServerCallListener[Q](next.startCall(call, headers)) {
      private val rows = new ConnectRows
      private var last: Any = _
      private var refused = false

      // A lambda would call the class above from another loader, which the JVM refuses: so super is called here.
      override def onMessage(question: Q): Unit = {
        last = question
        if (passes(ConnectStatements.problem(question, rows.items(question)))) super.onMessage(question)
      }

      /** The server would answer a call without a question, and this one may be closed already. */
      override def onHalfClose(): Unit = {
        val found = rows.end()
        if (passes(if (found.isEmpty) None else ConnectStatements.problem(last, found))) super.onHalfClose()
      }

      private def passes(problem: => Option[String]): Boolean = !refused && {
        problem.foreach { text =>
          refused = true
          call.close(Status.PERMISSION_DENIED.withDescription(text), details(text))
        }
        !refused
      }
    }
}

private object ConnectDoorInterceptor {
  private val Encoding = Metadata.Key.of("grpc-encoding", Metadata.ASCII_STRING_MARSHALLER)

  /** No client of Spark's compresses messages, and gRPC would make a thousand times as much of them for the doors. */
  private val Compressed = "the operator's policy does not allow messages that gRPC compresses"

  private def isCompressed(headers: Metadata): Boolean =
    Option(headers.get(Encoding)).exists(_ != "identity")

  private val Details = Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER)

  /** By these, clients make their AnalysisException. */
  private def details(text: String): Metadata = {
    val info = ErrorInfo.newBuilder()
      .setReason("org.apache.spark.sql.AnalysisException")
      .setDomain("org.apache.spark")
      .putMetadata("sqlState", PolicyViolationException.SqlState)
      .putMetadata("classes", """["org.apache.spark.sql.AnalysisException","java.lang.Exception"]""")
      .build()
    val status = RpcStatus.newBuilder()
      .setCode(Status.Code.PERMISSION_DENIED.value)
      .setMessage(text)
      .addDetails(Packed.pack(info))
      .build()
    val trailers = new Metadata()
    trailers.put(Details, status.toByteArray)
    trailers
  }
}
