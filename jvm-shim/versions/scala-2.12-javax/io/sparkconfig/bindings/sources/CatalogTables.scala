package io.sparkconfig.bindings.sources

import org.apache.spark.sql.catalyst.analysis.NoSuchTableException
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.{QualifiedTableName, TableIdentifier}
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.sparkconfig.Sessions

/**
 * Tables of V1 sources in the session catalog whose options hold references. Files are left to Spark: their
 * relations take references, and [[V2Rule]] and [[CommandRule]] give values to what reads and writes them.
 */
private[sources] final class CatalogTables(session: Sessions.Spark) {
  import CatalogTables._

  /** For the catalog's cache of relations: the relation with the values of now, where the table needs them. */
  def relation(name: QualifiedTableName, cached: Option[LogicalPlan]): Option[LogicalPlan] = {
    val table = cached match {
      case Some(LogicalRelation(_, _, known, _)) => known
      case Some(_) => None
      case None => metadata(name)
    }
    table.filter(needsValues).map { found =>
      val conf = Sessions.classic(session).sessionState.conf
      // A copy: what comes from Hive's metastore is a view of Scala 2.12's, which tasks cannot carry.
      val properties = Map.empty[String, String] ++ found.storage.properties
      val options = Sources.options(found.provider.get, properties, conf)
      val values = Fingerprint.of(options)
      cached.filter(_.getTagValue(MadeWith).contains(values)).getOrElse {
        val relation = Sources.relation(Sources.dataSource(
          session,
          found.provider.get,
          options,
          Some(found.schema),
          found.partitionColumnNames,
          found.bucketSpec,
          Some(found)))
        RelationConnections.note(relation, properties)
        val made = LogicalRelation(relation, found)
        made.setTagValue(MadeWith, values)
        made
      }
    }
  }

  private def needsValues(table: CatalogTable): Boolean =
    table.tableType != CatalogTableType.VIEW && table.provider.exists(_ != "hive") &&
      Options.hold(table.storage.properties) &&
      !Sources.isFile(table.provider.get, Sessions.classic(session).sessionState.conf)

  private def metadata(name: QualifiedTableName): Option[CatalogTable] =
    try Some(Sessions.catalog(session).getTableMetadata(TableIdentifier(name.name, Some(name.database))))
    catch { case _: NoSuchTableException => None }
}

private object CatalogTables {

  /** The fingerprint of the resolved options that a relation was made with. */
  val MadeWith: TreeNodeTag[String] = TreeNodeTag[String]("sparkconfig.options")
}
