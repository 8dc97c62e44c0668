package io.sparkconfig.bindings.sources

/** Spark 3.5: sources are loaded before there is a plan. */
private[sources] object LoadedRelations {

  /** Whether every load of a connection notes what it made, in [[RelationConnections]]. */
  val areKnown = false
}
