package io.sparkconfig.redaction.sinks

import io.sparkconfig.core.ConfLists
import org.apache.spark.SparkConf

/** Spark Connect in this application: what its clients are told is redacted by an interceptor of its server. */
private[sparkconfig] object ConnectServer extends Sink {
  override def name: String = "Spark Connect clients"

  override def install: PartialFunction[Stage, Unit] = {
    case Stage.Driver(conf) => problem(conf).foreach(why => throw new IllegalStateException(why))
    case Stage.Confs(conf) => if (canBeRedacted) ConfLists.add(conf, InterceptorsKey, Interceptor)
  }

  private val InterceptorsKey = "spark.connect.grpc.interceptor.classes"
  private val Interceptor = "io.sparkconfig.redaction.sinks.ConnectInterceptor"
  private val Plugin = "org.apache.spark.sql.connect.SparkConnectPlugin"
  private val Main = "org.apache.spark.sql.connect.service.SparkConnectServer"

  /** Whether this Spark has a Connect server that the jar's interceptor was built for: 3.5 ships none. */
  private def canBeRedacted: Boolean = exists("org.sparkproject.connect.grpc.ServerInterceptor") && exists(Interceptor)

  /** Why this application's Connect server cannot be redacted, if it has one. */
  private def problem(conf: SparkConf): Option[String] = {
    val plugins = pluginsOf(conf)
    if (!serves(conf)) None
    else if (!canBeRedacted) Some("the server of Spark 3.5 has no part in this jar, so its clients " +
      "would get errors, confs and explained plans with values in them")
    else if (plugins.contains(Plugin) && plugins.indexOf(Plugin) < plugins.indexOf("io.sparkconfig.ConfigPlugin"))
      Some(s"its server starts before this plugin; name $Plugin after io.sparkconfig.ConfigPlugin")
    else None
  }

  def serves(conf: SparkConf): Boolean =
    pluginsOf(conf).contains(Plugin) || System.getProperty("sun.java.command", "").contains(Main)

  private def pluginsOf(conf: SparkConf): Seq[String] =
    Seq("spark.plugins.defaultList", "spark.plugins").flatMap(conf.get(_, "").split(',').map(_.trim))

  private def exists(name: String): Boolean =
    try {
      Class.forName(name, false, Option(Thread.currentThread.getContextClassLoader).getOrElse(getClass.getClassLoader))
      true
    } catch { case _: ClassNotFoundException | _: LinkageError => false }
}
