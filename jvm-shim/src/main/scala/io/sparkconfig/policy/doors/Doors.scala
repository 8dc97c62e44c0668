package io.sparkconfig.policy.doors

import io.sparkconfig.policy.PolicyClient
import org.apache.spark.SparkContext
import org.apache.spark.sql.SparkSessionExtensions

/** The doors of an application. */
private[sparkconfig] object Doors {

  /** In the order in which their rules run. */
  val all: Seq[Door] = Seq(
    StartDoor,
    ReflectionDoor,
    StatementDoor,
    SessionDoor,
    ReadDoor,
    OptionsDoor,
    TableDoor,
    HadoopDoor,
    UseDoor)

  /** As one text for a log line. */
  def names: String = all.map(_.name).mkString(", ")

  /** Hooks the doors of the application itself. */
  def open(sc: SparkContext): Unit = standing.foreach(_.open(sc))

  /** Hooks the doors of each session. */
  def open(session: SparkSessionExtensions): Unit = standing.foreach(_.open(session))

  private def standing: Seq[Door] = all.filter(_.always || PolicyClient.running.isDefined)
}
