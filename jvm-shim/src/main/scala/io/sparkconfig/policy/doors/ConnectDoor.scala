package io.sparkconfig.policy.doors

import scala.util.Try

import io.sparkconfig.core.ConfLists
import org.apache.spark.SparkConf

/** The interceptor of a Spark Connect server, named before the server starts. Spark 3.5 has none in this jar. */
private[doors] object ConnectDoor extends Door {
  override def name: String = "messages of Connect clients"

  override def asks: Seq[Asked] = Seq(
    Asked(
      "messages of a Connect client: code, artifacts, and what a plan reads and runs",
      "not reachable",
      "before the server sees them",
      "not reachable"))

  private val Interceptor = "io.sparkconfig.policy.doors.ConnectDoorInterceptor"
  private val Grpc = "org.sparkproject.connect.grpc.ServerInterceptor"

  override def prepare(conf: SparkConf): Unit =
    if (Seq(Grpc, Interceptor).forall(exists))
      ConfLists.add(conf, "spark.connect.grpc.interceptor.classes", Interceptor)

  private def exists(name: String): Boolean = Try(Class.forName(
    name,
    false,
    Option(Thread.currentThread.getContextClassLoader).getOrElse(getClass.getClassLoader))).isSuccess
}
