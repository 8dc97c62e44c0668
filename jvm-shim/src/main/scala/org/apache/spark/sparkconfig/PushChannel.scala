package org.apache.spark.sparkconfig

import org.apache.spark.SparkEnv
import org.apache.spark.rpc.{RpcEndpointRef, RpcEnv, ThreadSafeRpcEndpoint}

/**
 * A way for the driver to speak first: an executor sets up an endpoint and hands its reference to the driver, whose
 * messages then travel over the connection that the executor has opened.
 */
object PushChannel {

  /**
   * The executor's end.
   *
   * @param onMessage called on Spark's dispatcher thread for every message, from any sender
   */
  def open(name: String)(onMessage: Any => Unit): PushChannel = {
    val env = SparkEnv.get.rpcEnv
    val reference = env.setupEndpoint(
      name,
      new ThreadSafeRpcEndpoint {
        override val rpcEnv: RpcEnv = env
        // There are no answers: there is no receiveAndReply.
        override def receive: PartialFunction[Any, Unit] = { case message => onMessage(message) }
      })
    new PushChannel(env, reference)
  }

  /** Whether this is such a reference. */
  def isReference(any: Any): Boolean = any.isInstanceOf[RpcEndpointRef]

  /** The driver's end: sends without waiting. References of executors without a port compare equal. */
  def send(reference: AnyRef, message: Any): Unit = reference.asInstanceOf[RpcEndpointRef].send(message)
}

/** @param reference what travels to the driver */
final class PushChannel private (env: RpcEnv, endpoint: RpcEndpointRef) {
  def reference: AnyRef = endpoint

  def close(): Unit = env.stop(endpoint)
}
