package io.sparkconfig.policy.doors

import io.sparkconfig.core.NamedConnections
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.streaming.StreamingRelation
import org.apache.spark.sql.sparkconfig.{RelationOptions, Sessions}

/**
 * In 3.5 `load` makes the relation before there is a plan: the options of the relations that show them are evaluated
 * before a row is read, though the source may have asked for the schema already.
 */
private[sparkconfig] object ReadOptions {

  /** Nothing is early enough. */
  def inject(session: SparkSessionExtensions): Unit = ()

  /** What their source is called, the options, and whether a stream has them. */
  def late(node: LogicalPlan): Option[(Seq[String], Map[String, String], Boolean)] = node match {
    case relation: DataSourceV2Relation =>
      Some((SourceNames.of(relation.table), OptionsDoor.texts(relation.options), false))
    case relation: LogicalRelation =>
      Some((name(relation), own(RelationOptions.of(relation.relation), relation.catalogTable), false))
    case relation: StreamingRelationV2 =>
      Some((SourceNames.of(relation.sourceName), OptionsDoor.texts(relation.extraOptions), true))
    case relation: StreamingRelation =>
      Some((SourceNames.of(relation.dataSource.className), relation.dataSource.options, true))
    case _ => None
  }

  /** Spark has cached the relation with the options that were refused; the next reader must not get them. */
  def forget(session: Sessions.Spark, node: LogicalPlan): Unit = node match {
    case relation: LogicalRelation =>
      relation.catalogTable.foreach(table => Sessions.catalog(session).refreshTable(table.identifier))
    case _ => ()
  }

  private def name(relation: LogicalRelation): Seq[String] = relation.relation match {
    case files: HadoopFsRelation => SourceNames.of(files.fileFormat)
    case jdbc if jdbc.getClass.getSimpleName == "JDBCRelation" => Seq("jdbc") // private to Spark
    case other => SourceNames.of(other)
  }

  /**
   * What the reader adds to a table; the table's own options were evaluated when it was made, and what its connection
   * sets is the operator's.
   */
  private def own(options: Map[String, String], table: Option[CatalogTable]): Map[String, String] =
    table.fold(options) { made =>
      NamedConnections.written(options).filterNot { case (key, text) =>
        key == "path" || made.storage.properties.get(key).contains(text)
      }
    }
}
