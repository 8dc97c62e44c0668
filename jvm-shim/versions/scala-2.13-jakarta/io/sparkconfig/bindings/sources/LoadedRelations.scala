package io.sparkconfig.bindings.sources

import org.apache.spark.sql.sources.BaseRelation

/** Spark 4.0 and later: loads are part of the plan. */
private[sources] object LoadedRelations {

  /** The connections that the loads of a relation named; None: nobody knows. */
  def connections(relation: BaseRelation): Option[Set[String]] = Some(HeldLoad.connections(relation))
}
