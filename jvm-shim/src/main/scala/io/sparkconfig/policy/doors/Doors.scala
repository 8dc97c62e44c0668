package io.sparkconfig.policy.doors

import io.sparkconfig.policy.PolicyClient
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.{SparkConf, SparkContext}

/** The doors of an application. */
private[sparkconfig] object Doors {

  /** In the order in which their rules run. */
  val all: Seq[Door] = Seq(
    StartDoor,
    ReflectionDoor,
    SinglePass,
    ConnectDoor,
    StatementDoor,
    SessionDoor,
    PartitionsDoor,
    ReadDoor,
    OptionsDoor,
    TableDoor,
    HadoopDoor,
    UseDoor)

  /** As one text for a log line. */
  def names: String = all.map(_.name).mkString(", ")

  /** Sets the confs by which Spark loads doors. */
  def prepare(conf: SparkConf): Unit = all.foreach(_.prepare(conf))

  /** Hooks the doors of the application itself. */
  def open(sc: SparkContext): Unit = standing.foreach(_.open(sc))

  /** Hooks the doors of each session. */
  def open(session: SparkSessionExtensions): Unit = standing.foreach(_.open(session))

  private def standing: Seq[Door] = all.filter(_.always || PolicyClient.running.isDefined)
}
