package io.sparkconfig.bindings.sources

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnresolvedDataSource}
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.execution.datasources.CreateTempViewUsing
import org.apache.spark.sql.sparkconfig.Sessions

/** Spark 4.0 and later: loads are part of the plan. */
private[sources] object LoadedRelations {

  /** Whether every load of a connection notes what it made, in [[RelationConnections]]. */
  val areKnown = true

  /** The load that a view would be of if it were one. */
  def load(session: Sessions.Spark, view: CreateTempViewUsing): Option[LogicalPlan] = {
    val options = CaseInsensitiveMap(view.options)
    val load = UnresolvedDataSource(view.provider, view.userSpecifiedSchema, options, isStreaming = false, Nil)
    Some(HeldLoad(session, load, Sessions.classic(session).sessionState.conf))
  }
}
