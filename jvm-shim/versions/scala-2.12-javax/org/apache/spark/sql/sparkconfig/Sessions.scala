package org.apache.spark.sql.sparkconfig

import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.catalog.SessionCatalog
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.internal.SessionState

/** The session's class: 3.5 has one session class. */
object Sessions {
  type Spark = org.apache.spark.sql.SparkSession
  type Classic = org.apache.spark.sql.SparkSession

  def classic(session: Spark): Classic = session

  def catalog(session: Spark): SessionCatalog = classic(session).sessionState.catalog

  /** The state of the session of which this one is a clone. */
  def parent(session: Spark): Option[SessionState] =
    Reflect.get(classic(session), "parentSessionState").asInstanceOf[Option[SessionState]]

  def rows(session: Spark, plan: LogicalPlan): DataFrame = org.apache.spark.sql.Dataset.ofRows(session, plan)

  def run(session: Spark, command: LogicalPlan): Unit =
    session.sessionState.executePlan(command).assertCommandExecuted()

  /** A class in 4.0 and a trait in 4.3, so that only reflection may call it. */
  def catalogManager(session: Spark): AnyRef = {
    val state = classic(session).sessionState
    state.getClass.getMethod("catalogManager").invoke(state)
  }
}
