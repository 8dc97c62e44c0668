package io.sparkconfig.bindings.sources

import org.apache.spark.sql.catalyst.analysis.ResolveDataSource
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnresolvedDataSource}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sources.BaseRelation
import org.apache.spark.sql.sparkconfig.Sessions

/**
 * A `load` whose options or paths hold references, beside the relation that came of it. Sources of V1 and those that
 * are written in Python take their options when they are loaded: a frame that is held is loaded again when its values
 * are others by then.
 *
 * @param load with the texts as they were written
 * @param fingerprint of the values that the relation was made with
 */
private[sources] final class HeldLoad(load: UnresolvedDataSource, fingerprint: Int) {

  /** The relation of the same load with the values of now, if they are others. */
  def renewed(session: Sessions.Spark, conf: SQLConf): Option[LogicalPlan] = {
    val now = HeldLoad.withValues(load, conf)
    val current = HeldLoad.fingerprint(now)
    if (current == fingerprint) None
    else {
      val relation = HeldLoad.loaded(session, now)
      relation.setTagValue(HeldLoad.Tag, new HeldLoad(load, current))
      Some(relation)
    }
  }
}

private[sources] object HeldLoad {
  private val Python = "PythonTable"

  val Tag: TreeNodeTag[HeldLoad] = TreeNodeTag[HeldLoad]("sparkconfig.load")

  /** Loads with values; the plan has the references. */
  def apply(session: Sessions.Spark, load: UnresolvedDataSource, conf: SQLConf): LogicalPlan = {
    val values = withValues(load, conf)
    val plan = StreamRelations.asWritten(loaded(session, values), CaseInsensitiveMap(texts(load)))
    if (!load.isStreaming) {
      val held = new HeldLoad(load, fingerprint(values))
      plan.foreach {
        // Files get values at each query, since the relation shows its options.
        case logical: LogicalRelation if !Sources.isOfFiles(logical.relation) =>
          logical.setTagValue(Tag, held)
        case relation: DataSourceV2Relation if relation.table.getClass.getSimpleName == Python =>
          relation.setTagValue(Tag, held)
        case _ => ()
      }
    }
    plan
  }

  private def texts(load: UnresolvedDataSource): Map[String, String] = load.options.originalMap

  private def withValues(load: UnresolvedDataSource, conf: SQLConf): UnresolvedDataSource = {
    val paths = load.paths.map(path => Options.values(load.format, Map("path" -> path))("path"))
    val options =
      if (load.isStreaming) Options.values(load.format, texts(load))
      else Sources.options(load.format, texts(load), conf)
    load.copy(options = CaseInsensitiveMap(options), paths = paths)
  }

  private def fingerprint(load: UnresolvedDataSource): Int = (texts(load), load.paths).hashCode

  private def loaded(session: Sessions.Spark, load: UnresolvedDataSource): LogicalPlan =
    new ResolveDataSource(Sessions.classic(session)).apply(load)
}

/** Pre-CBO, in front of [[V2Rule]]: held loads whose values have changed. */
private[sources] final class HeldRule(session: Sessions.Spark) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformDown {
    case relation if relation.getTagValue(HeldLoad.Tag).isDefined =>
      relation.getTagValue(HeldLoad.Tag).flatMap(_.renewed(session, conf)).fold(relation)(replaced(relation, _))
  }

  /** With the columns that the frame has; a source that has others now keeps the relation of its load. */
  private def replaced(relation: LogicalPlan, renewed: LogicalPlan): LogicalPlan = (relation, renewed) match {
    case (held: LogicalRelation, now: LogicalRelation) if held.relation.schema == now.relation.schema =>
      marked(Sources.edit(held) { case source: BaseRelation if source eq held.relation => now.relation }, now)
    case (held: DataSourceV2Relation, now: DataSourceV2Relation) if held.table.schema == now.table.schema =>
      marked(Sources.edit(held) { case table: Table if table eq held.table => now.table }, now)
    case _ => relation
  }

  private def marked(copy: LogicalPlan, renewed: LogicalPlan): LogicalPlan = {
    renewed.getTagValue(HeldLoad.Tag).foreach(copy.setTagValue(HeldLoad.Tag, _))
    copy
  }
}
