package io.sparkconfig.bindings.sources

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
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
  def renewed(session: Sessions.Spark): Option[LogicalPlan] = {
    val conf = Sessions.classic(session).sessionState.conf
    val options = Sources.options(command.provider, command.options, conf)
    val current = Fingerprint.of(options)
    if (current == fingerprint) None
    else Some(latest.of(session, current)(LogicalRelation(Sources.relation(
      Sources.dataSource(session, command.provider, options, command.userSpecifiedSchema)))))
  }
}

private[sparkconfig] object ViewSource {
  private val Tag = TreeNodeTag[ViewSource]("sparkconfig.view")

  def mark(session: Sessions.Spark, command: CreateTempViewUsing, options: Map[String, String]): Unit = {
    val name = command.tableIdent.table
    val catalog = Sessions.catalog(session)
    val view = if (command.global) catalog.getRawGlobalTempView(name) else catalog.getRawTempView(name)
    view.flatMap(_.plan).foreach(_.setTagValue(Tag, new ViewSource(command, Fingerprint.of(options))))
  }

  /** The options that the user gave the temporary view whose relation this is. */
  def options(relation: LogicalPlan): Option[Map[String, String]] = relation.getTagValue(Tag).map(_.command.options)

  /** An insert into a temporary view, with the values of now. */
  def renewed(session: Sessions.Spark, insert: InsertIntoDataSourceCommand): LogicalPlan =
    insert.logicalRelation.getTagValue(Tag).flatMap(_.renewed(session)).fold[LogicalPlan](insert) { now =>
      Sources.edit(insert) { case relation: LogicalRelation if relation eq insert.logicalRelation => now }
    }

  /** The source of the temporary view of this name. */
  def of(session: Sessions.Spark, parts: Seq[String]): Option[ViewSource] =
    Sessions.catalog(session).getRawLocalOrGlobalTempView(parts).flatMap(_.plan).flatMap(_.getTagValue(Tag))
}
