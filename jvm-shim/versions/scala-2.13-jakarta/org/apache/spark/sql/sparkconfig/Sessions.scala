package org.apache.spark.sql.sparkconfig

import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.catalog.SessionCatalog
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, OneRowRelation}
import org.apache.spark.sql.internal.SessionState

/** The session's class: since 4.0 the public class is abstract, and plans run in the classic one. */
object Sessions {
  type Spark = org.apache.spark.sql.SparkSession
  type Classic = org.apache.spark.sql.classic.SparkSession

  def classic(session: Spark): Classic = session.asInstanceOf[Classic]

  def catalog(session: Spark): SessionCatalog = classic(session).sessionState.catalog

  /** The session of which this one is a clone: Spark makes clones for caches and streams, and names no user there. */
  def parent(session: Spark): Option[Spark] =
    // A clone knows the state of its parent, which knows its session alone by the plans that it would run.
    Reflect.get(classic(session), "parentSessionState").asInstanceOf[Option[SessionState]]
      .map(_.executePlan(OneRowRelation()).sparkSession)

  def rows(session: Spark, plan: LogicalPlan): DataFrame =
    org.apache.spark.sql.classic.Dataset.ofRows(classic(session), plan)

  def run(session: Spark, command: LogicalPlan): Unit =
    classic(session).sessionState.executePlan(command).assertCommandExecuted()

  /** A class in 4.0 and a trait in 4.3, so that only reflection may call it. */
  def catalogManager(session: Spark): AnyRef = {
    val state = classic(session).sessionState
    state.getClass.getMethod("catalogManager").invoke(state)
  }
}
