package io.sparkconfig.bindings.sources

import io.sparkconfig.core.NamedConnections
import org.apache.spark.sql.sources.BaseRelation

/**
 * The names of the connections whose options a V1 relation was made with. A plan does not always show them: relations
 * lose their table, their tag or their load on the way into a view.
 */
private[sources] object RelationConnections {
  // By the object that the source made, which Spark's rules hand on.
  private val known = new WeakIdentityMap[BaseRelation, Set[String]]

  /** @param written the options as they were written; a source may give the same object to several makers */
  def note(relation: BaseRelation, written: Map[String, String]): Unit =
    known.update(relation)(_.getOrElse(Set.empty[String]) ++ NamedConnections.nameIn(written))

  /** None: nobody has said what this one was made with. */
  def of(relation: BaseRelation): Option[Set[String]] = known.get(relation)
}
