package io.sparkconfig.policy.doors

import io.sparkconfig.policy.Requester
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

  override def interceptCall[Q, S](
      call: ServerCall[Q, S],
      headers: Metadata,
      next: ServerCallHandler[Q, S]): ServerCall.Listener[Q] =
    new ForwardingServerCallListener.SimpleForwardingServerCallListener[Q](next.startCall(call, headers)) {
      private var refused = false

      override def onMessage(question: Q): Unit = if (!refused) ConnectStatements.problem(question) match {
        case None => super.onMessage(question)
        case Some(text) =>
          refused = true
          call.close(Status.PERMISSION_DENIED.withDescription(text), details(text))
      }

      /** The server would answer a call without a question, and this one is closed already. */
      override def onHalfClose(): Unit = if (!refused) super.onHalfClose()
    }
}

private object ConnectDoorInterceptor {
  private val Details = Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER)

  /** By these, clients make their AnalysisException. */
  private def details(text: String): Metadata = {
    val info = ErrorInfo.newBuilder()
      .setReason("org.apache.spark.sql.AnalysisException")
      .setDomain("org.apache.spark")
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
