package io.sparkconfig.policy.doors

import scala.util.Try

import io.sparkconfig.core.ConfLists
import org.apache.spark.SparkConf

/** The interceptor of a Spark Connect server, named before the server starts. Spark 3.5 has none in this jar. */
private[sparkconfig] object ConnectDoor {
  private val Interceptor = "io.sparkconfig.policy.doors.ConnectDoorInterceptor"
  private val Grpc = "org.sparkproject.connect.grpc.ServerInterceptor"

  def name(conf: SparkConf): Unit =
    if (Seq(Grpc, Interceptor).forall(exists))
      ConfLists.add(conf, "spark.connect.grpc.interceptor.classes", Interceptor)

  private def exists(name: String): Boolean = Try(Class.forName(
    name,
    false,
    Option(Thread.currentThread.getContextClassLoader).getOrElse(getClass.getClassLoader))).isSuccess
}
