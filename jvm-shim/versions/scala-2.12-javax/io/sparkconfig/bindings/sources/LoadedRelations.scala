package io.sparkconfig.bindings.sources

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.CreateTempViewUsing
import org.apache.spark.sql.sparkconfig.Sessions

/** Spark 3.5: sources are loaded before there is a plan. */
private[sources] object LoadedRelations {

  /** Whether every load of a connection notes what it made, in [[RelationConnections]]. */
  val areKnown = false

  /** The load that a view would be of if it were one. */
  def load(session: Sessions.Spark, view: CreateTempViewUsing): Option[LogicalPlan] = None
}
