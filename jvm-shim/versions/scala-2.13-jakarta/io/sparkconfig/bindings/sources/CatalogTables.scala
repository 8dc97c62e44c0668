package io.sparkconfig.bindings.sources

import org.apache.spark.sql.catalyst.analysis.{
  NoSuchDatabaseException,
  NoSuchNamespaceException,
  NoSuchTableException,
  UnresolvedRelation
}
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType, CatalogUtils}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, SubqueryAlias}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.{QualifiedTableName, TableIdentifier}
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sparkconfig.{CatalogHook, Sessions}

/**
 * Tables of V1 sources in the session catalog whose options hold references: their relations are made here, since
 * Spark's own rule (`FindDataSourceTable`) would hand the references to the source.
 */
private[sources] final class CatalogTables(session: Sessions.Spark) {
  import CatalogTables._

  def forRead(relation: UnresolvedRelation): Option[LogicalPlan] = {
    val parts = relation.multipartIdentifier
    if (Sessions.catalog(session).isTempView(parts)) {
      ViewSource.of(session, parts).flatMap(_.renewed(session)).map(SubqueryAlias(parts, _))
    } else find(relation).map { table =>
      SubqueryAlias(Seq(SessionCatalog, table.database, table.identifier.table), relationOf(relation, table))
    }
  }

  /** Files are written by a command that resolves when it runs: they need no values here. */
  def forInsert(relation: UnresolvedRelation): Option[LogicalPlan] =
    find(relation).filterNot(table => Sources.isFile(table.provider.get, conf))
      .map(table => relationOf(relation, table, Connections.Write))

  private def conf: SQLConf = Sessions.classic(session).sessionState.conf

  private def find(relation: UnresolvedRelation): Option[CatalogTable] =
    if (Sessions.catalog(session).isTempView(relation.multipartIdentifier)) None
    else for {
      identifier <- identifierOf(relation.multipartIdentifier)
      table <- metadata(identifier)
      provider <- table.provider
      if table.tableType != CatalogTableType.VIEW && provider != "hive"
      if Options.hold(table.storage.properties) || Options.hold(relation.options)
      if !Sources.isV2(provider, conf)
    } yield table

  /** Tables of which Spark has a relation without references cost no question to the metastore. */
  private def metadata(identifier: TableIdentifier): Option[CatalogTable] =
    try {
      val catalog = Sessions.catalog(session)
      val qualified = catalog.qualifyIdentifier(identifier)
      catalog.getCachedTable(cacheKey(qualified)) match {
        case LogicalRelationTable(known) if !Options.hold(known.storage.properties) => None
        case _ => Some(catalog.getTableMetadata(qualified))
      }
    } catch { case _: NoSuchTableException | _: NoSuchDatabaseException | _: NoSuchNamespaceException => None }

  private def identifierOf(parts: Seq[String]): Option[TableIdentifier] = parts match {
    case catalog +: rest if catalog.equalsIgnoreCase(SessionCatalog) && rest.nonEmpty => local(rest)
    case _ if CatalogHook.currentCatalog(session) == SessionCatalog => local(parts)
    case _ => None
  }

  private def local(parts: Seq[String]): Option[TableIdentifier] = parts match {
    case Seq(table) => Some(TableIdentifier(table))
    case Seq(database, table) => Some(TableIdentifier(table, Some(database)))
    case _ => None
  }

  private def cacheKey(identifier: TableIdentifier) =
    QualifiedTableName(identifier.database.getOrElse(""), identifier.table)

  private def relationOf(
      relation: UnresolvedRelation,
      table: CatalogTable,
      access: String = Connections.Read): LogicalRelation = {
    val provider = table.provider.get
    val file = Sources.isFile(provider, conf)
    val path =
      if (file) table.storage.locationUri.map(location => "path" -> CatalogUtils.URIToString(location)) else None
    val given = Options.texts(relation.options).filterNot { case (key, _) => key.startsWith("__") }
    val options = Sources.options(provider, table.storage.properties ++ given ++ path, conf, access)
    def made = LogicalRelation(
      Sources.relation(Sources.dataSource(
        session,
        provider,
        options,
        Some(table.schema),
        table.partitionColumnNames,
        table.bucketSpec,
        Some(table))),
      table)
    // Files and JDBC relations are equal when their options are; of other sources the same object must come back,
    // or CACHE TABLE would never find its data again. It is Spark's own cache: bounded, and emptied by REFRESH.
    if (file || JdbcOptions.isJdbc(provider, conf)) made
    else {
      val key = cacheKey(Sessions.catalog(session).qualifyIdentifier(table.identifier))
      Sessions.catalog(session).getCachedTable(key) match {
        case known: LogicalRelation if known.getTagValue(Fingerprint).contains(options.hashCode) => known
        case _ =>
          val fresh = made
          fresh.setTagValue(Fingerprint, options.hashCode)
          Sessions.catalog(session).cacheTable(key, fresh)
          fresh
      }
    }
  }
}

private object CatalogTables {
  val SessionCatalog = "spark_catalog"

  /** Of the resolved options that a relation was made with. */
  val Fingerprint: TreeNodeTag[Int] = TreeNodeTag[Int]("sparkconfig.options")

  /** The extractor of LogicalRelation itself has another number of parts in each version. */
  object LogicalRelationTable {
    def unapply(plan: LogicalPlan): Option[CatalogTable] = plan match {
      case logical: LogicalRelation => logical.catalogTable
      case _ => None
    }
  }
}
