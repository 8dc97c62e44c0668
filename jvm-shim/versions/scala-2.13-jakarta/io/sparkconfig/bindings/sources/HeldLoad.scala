package io.sparkconfig.bindings.sources

import org.apache.spark.sql.catalyst.analysis.ResolveDataSource
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnresolvedDataSource}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.execution.datasources.{InsertIntoDataSourceCommand, LogicalRelation}
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
private[sources] final class HeldLoad(private val load: UnresolvedDataSource, fingerprint: String) {
  private val latest = new Latest

  /** The relation of the same load with the values of now, if they are others. */
  def renewed(session: Sessions.Spark, conf: SQLConf, access: String): Option[LogicalPlan] = {
    val now = HeldLoad.withValues(load, conf, access)
    val current = HeldLoad.fingerprint(now)
    if (current == fingerprint) None
    else Some(latest.of(session, current) {
      val relation = HeldLoad.loaded(session, now)
      HeldLoad.hold(relation, new HeldLoad(load, current))
      relation
    })
  }

  private def of(other: UnresolvedDataSource): Boolean =
    load.format == other.format && HeldLoad.texts(load) == HeldLoad.texts(other) && load.paths == other.paths &&
      load.userSpecifiedSchema == other.userSpecifiedSchema
}

private[sources] object HeldLoad {
  private val Python = "PythonTable"

  // By the object that the source made, which Spark's rules hand on; a tag of the plan is lost with some of its copies.
  private val held = new WeakIdentityMap[AnyRef, Option[HeldLoad]]

  /**
   * The load that this object of a source came of, if it came of one alone: a source may give the same object to
   * several, and nobody could say whose values would be the new ones.
   */
  def of(made: AnyRef): Option[HeldLoad] = held.get(made).flatten

  /** Loads with values; the plan has the references. */
  def apply(session: Sessions.Spark, load: UnresolvedDataSource, conf: SQLConf): LogicalPlan = {
    val values = withValues(load, conf, Connections.Read)
    val plan = StreamRelations.asWritten(loaded(session, values), CaseInsensitiveMap(texts(load)))
    if (!load.isStreaming) hold(plan, new HeldLoad(load, fingerprint(values)))
    plan
  }

  private def hold(plan: LogicalPlan, load: HeldLoad): Unit = plan.foreach {
    // Files get values at each query, since the relation shows its options.
    case logical: LogicalRelation if !Sources.isOfFiles(logical.relation) =>
      hold(logical.relation, load)
      RelationConnections.note(logical.relation, texts(load.load))
    case relation: DataSourceV2Relation if relation.table.getClass.getSimpleName == Python =>
      hold(relation.table, load)
    case _ => ()
  }

  private def hold(made: AnyRef, load: HeldLoad): Unit = held.update(made) { before =>
    if (before.forall(_.exists(_.of(load.load)))) Some(load) else None
  }

  private def texts(load: UnresolvedDataSource): Map[String, String] = load.options.originalMap

  private def withValues(load: UnresolvedDataSource, conf: SQLConf, access: String): UnresolvedDataSource = {
    val paths = load.paths.map(path => Options.values(load.format, Map("path" -> path))("path"))
    val options =
      if (load.isStreaming) Options.values(load.format, texts(load))
      else Sources.options(load.format, texts(load), conf, access)
    load.copy(options = CaseInsensitiveMap(options), paths = paths)
  }

  private def fingerprint(load: UnresolvedDataSource): String =
    Fingerprint.of(texts(load), load.paths)

  private def loaded(session: Sessions.Spark, load: UnresolvedDataSource): LogicalPlan =
    new ResolveDataSource(Sessions.classic(session)).apply(load)
}

/** Pre-CBO, in front of [[V2Rule]]: held loads whose values have changed. */
private[sources] final class HeldRule(session: Sessions.Spark) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformDown {
    case held: LogicalRelation => renewed(held, Connections.Read)
    case held: DataSourceV2Relation => now(held.table, Connections.Read).fold[LogicalPlan](held) {
        case now: DataSourceV2Relation if held.table.schema == now.table.schema =>
          Sources.edit(held) { case table: Table if table eq held.table => now.table }
        case _ => held
      }
    case insert: InsertIntoDataSourceCommand =>
      Sources.edit(insert) { case relation: LogicalRelation => renewed(relation, Connections.Write) }
  }

  /** With the columns that the frame has; a source that has others now keeps the relation of its load. */
  private def renewed(held: LogicalRelation, access: String): LogicalPlan =
    now(held.relation, access).fold[LogicalPlan](held) {
      case now: LogicalRelation if held.relation.schema == now.relation.schema =>
        Sources.edit(held) { case source: BaseRelation if source eq held.relation => now.relation }
      case _ => held
    }

  private def now(made: AnyRef, access: String): Option[LogicalPlan] =
    HeldLoad.of(made).flatMap(_.renewed(session, conf, access))
}
