package io.sparkconfig.bindings.sources

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.execution.datasources.{CreateTempViewUsing, InsertIntoDataSourceCommand, LogicalRelation}
import org.apache.spark.sql.sparkconfig.Sessions

/**
 * What a temporary view was made from, kept beside the relation that the view holds: the view's relation has the
 * values of the moment when it was made, and a later one takes its place when they have changed.
 *
 * @param fingerprint of the resolved options that the relation was made with
 */
private[sparkconfig] final class ViewSource(val command: CreateTempViewUsing, fingerprint: String) {
  private val latest = new Latest

  /** The view's relation with the values of now, if they are others. */
  def renewed(session: Sessions.Spark, access: String): Option[LogicalPlan] = {
    val conf = Sessions.classic(session).sessionState.conf
    val options = Sources.options(command.provider, command.options, conf, access)
    val current = Fingerprint.of(options)
    if (current == fingerprint) None
    else Some(latest.of(session, current) {
      val relation =
        Sources.relation(Sources.dataSource(session, command.provider, options, command.userSpecifiedSchema))
      RelationConnections.note(relation, command.options)
      LogicalRelation(relation)
    })
  }
}

private[sparkconfig] object ViewSource {
  private val Tag = TreeNodeTag[ViewSource]("sparkconfig.view")

  def mark(session: Sessions.Spark, command: CreateTempViewUsing, options: Map[String, String]): Unit = {
    val name = command.tableIdent.table
    val catalog = Sessions.catalog(session)
    val view = if (command.global) catalog.getRawGlobalTempView(name) else catalog.getRawTempView(name)
    for { known <- view; plan <- known.plan } {
      if (plan.exists(_.isInstanceOf[DataSourceV2Relation]))
        // It keeps its options, which are values: of a load the plan has the references, and rules follow them.
        LoadedRelations.load(session, command).foreach { load =>
          catalog.alterTempViewDefinition(known.tableMeta.identifier, known.copy(plan = Some(load)))
        }
      else {
        plan.setTagValue(Tag, new ViewSource(command, Fingerprint.of(options)))
        plan.foreach {
          case made: LogicalRelation => RelationConnections.note(made.relation, command.options)
          case _ => ()
        }
      }
    }
  }

  /** The options that the user gave the temporary view whose relation this is. */
  def options(relation: LogicalPlan): Option[Map[String, String]] = relation.getTagValue(Tag).map(_.command.options)

  /**
   * An insert into a temporary view, with the values of now. Its columns have been matched with the view's: a source
   * that has others now keeps the relation of the view.
   */
  def renewed(session: Sessions.Spark, insert: InsertIntoDataSourceCommand): LogicalPlan = {
    val view = insert.logicalRelation
    view.getTagValue(Tag).flatMap(_.renewed(session, Connections.Write)) match {
      case Some(now: LogicalRelation) if now.relation.schema == view.relation.schema =>
        Sources.edit(insert) { case relation: LogicalRelation if relation eq view => now }
      case _ => insert
    }
  }

  /** The temporary view of this name with the values of now, as Spark would look it up, if they are others. */
  def renewed(session: Sessions.Spark, parts: Seq[String]): Option[LogicalPlan] = for {
    view <- Sessions.catalog(session).getRawLocalOrGlobalTempView(parts)
    source <- view.plan.flatMap(_.getTagValue(Tag))
    now <- source.renewed(session, Connections.Read)
  } yield Sessions.catalog(session).getTempViewRelation(view.copy(plan = Some(now)))
}
