package io.sparkconfig.bindings.sources

import org.apache.spark.sql.sources.BaseRelation

/** Spark 3.5: sources are loaded before there is a plan. */
private[sources] object LoadedRelations {

  /** The connections that the loads of a relation named; None: nobody knows. */
  def connections(relation: BaseRelation): Option[Set[String]] = None
}
