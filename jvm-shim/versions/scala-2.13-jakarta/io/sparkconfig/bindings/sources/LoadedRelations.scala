package io.sparkconfig.bindings.sources

/** Spark 4.0 and later: loads are part of the plan. */
private[sources] object LoadedRelations {

  /** Whether every load of a connection notes what it made, in [[RelationConnections]]. */
  val areKnown = true
}
