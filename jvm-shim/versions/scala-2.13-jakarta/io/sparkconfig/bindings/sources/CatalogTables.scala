package io.sparkconfig.bindings.sources

import org.apache.spark.sql.catalyst.analysis.{
  AnalysisContext,
  NoSuchDatabaseException,
  NoSuchNamespaceException,
  NoSuchTableException,
  UnresolvedRelation
}
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType, CatalogUtils}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, SubqueryAlias}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.catalyst.{QualifiedTableName, TableIdentifier}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
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
    if (isTempView(parts)) ViewSource.renewed(session, parts)
    else find(relation).map { table =>
      SubqueryAlias(Seq(SessionCatalog, table.database, table.identifier.table), relationOf(relation, table))
    }
  }

  /** Files are written by a command that resolves when it runs: they need no values here. */
  def forInsert(relation: UnresolvedRelation): Option[LogicalPlan] =
    find(relation).filterNot(table => Sources.isFile(table.provider.get, conf))
      .map(table => relationOf(relation, table, Connections.Write))

  private def conf: SQLConf = Sessions.classic(session).sessionState.conf

  private def find(relation: UnresolvedRelation): Option[CatalogTable] =
    if (isTempView(relation.multipartIdentifier)) None
    else for {
      identifier <- identifierOf(expanded(relation.multipartIdentifier))
      table <- metadata(identifier, relation)
      provider <- table.provider
      if table.tableType != CatalogTableType.VIEW && provider != "hive"
      if Options.hold(table.storage.properties) || Options.hold(relation.options)
      if kept(table).isDefined || !Sources.isV2(provider, conf)
    } yield table

  /** In the text of a permanent view, only those temporary views count that it was made of. */
  private def isTempView(parts: Seq[String]): Boolean =
    (!isWithinView || AnalysisContext.get.referredTempViewNames.contains(parts)) &&
      Sessions.catalog(session).isTempView(parts)

  /** The names in a permanent view's text mean what they meant where the view was made. */
  private def expanded(parts: Seq[String]): Seq[String] = AnalysisContext.get.catalogAndNamespace match {
    case within if within.isEmpty || parts.head.equalsIgnoreCase(SessionCatalog) => parts
    case within if parts.length == 1 => within :+ parts.head
    case _ if conf.contains(s"spark.sql.catalog.${parts.head}") => parts
    case within => within.head +: parts
  }

  private def isWithinView: Boolean = AnalysisContext.get.catalogAndNamespace.nonEmpty

  /** Tables of which Spark has a relation without references cost no question to the metastore. */
  private def metadata(identifier: TableIdentifier, relation: UnresolvedRelation): Option[CatalogTable] =
    try {
      val catalog = Sessions.catalog(session)
      val qualified = catalog.qualifyIdentifier(identifier)
      catalog.getCachedTable(cacheKey(qualified)) match {
        case LogicalRelationTable(known)
            if !Options.hold(known.storage.properties) && !Options.hold(relation.options) => None
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

  private def keyOf(table: CatalogTable) = cacheKey(Sessions.catalog(session).qualifyIdentifier(table.identifier))

  private def relationOf(
      relation: UnresolvedRelation,
      table: CatalogTable,
      access: String = Connections.Read): LogicalRelation = {
    val given = Options.texts(relation.options).filterNot { case (key, _) => key.startsWith("__") }
    val texts = table.storage.properties ++ given
    val provider = table.provider.get
    if (kept(table).isDefined || Sources.isFile(provider, conf)) fileRelation(table, texts)
    else {
      val options = Sources.options(provider, texts, conf, access)
      // JDBC relations are equal when their options are; of other sources the same object must come back, or
      // CACHE TABLE would never find its data again. It is Spark's own cache: bounded, and emptied by REFRESH.
      // What a single reader adds to the options is nobody else's.
      if (JdbcOptions.isJdbc(provider, conf) || given.nonEmpty) made(table, options, texts)
      else {
        val key = keyOf(table)
        val values = Fingerprint.of(options)
        Sessions.catalog(session).getCachedTable(key) match {
          case known: LogicalRelation if known.getTagValue(MadeWith).contains(values) => known
          case _ =>
            val fresh = made(table, options, texts)
            fresh.setTagValue(MadeWith, values)
            Sessions.catalog(session).cacheTable(key, fresh)
            fresh
        }
      }
    }
  }

  /**
   * The relation of files, listed once until REFRESH, a write, another value or another definition of the table, as
   * Spark lists its own. Its cache gets what Spark itself would put there, with the options as they were written:
   * writes take them from it, and with them the list of files that they renew.
   */
  private def fileRelation(table: CatalogTable, texts: Map[String, String]): LogicalRelation = {
    val path = table.storage.locationUri.map(location => "path" -> CatalogUtils.URIToString(location))
    val options = Options.values(table.provider.get, texts ++ path)
    kept(table).filter(_.options == options).map(_.relation).getOrElse {
      val fresh = made(table, options, texts)
      fresh.relation match {
        // What a single reader adds to the options is nobody else's.
        case files: HadoopFsRelation if texts == table.storage.properties =>
          val written = files.copy(options = CaseInsensitiveMap(texts ++ path))(files.sparkSession)
          val shared = Sources.edit(fresh) { case relation: HadoopFsRelation if relation eq files => written }
          shared.setTagValue(Kept, new Kept(table, v1Sources, options, fresh))
          Sessions.catalog(session).cacheTable(keyOf(table), shared)
        case _ =>
      }
      fresh
    }
  }

  private def kept(table: CatalogTable): Option[Kept] =
    Option(Sessions.catalog(session).getCachedTable(keyOf(table))).flatMap(_.getTagValue(Kept))
      .filter(known => known.table == table && known.v1Sources == v1Sources)

  /** Which sources are V1 is for the session to say. */
  private def v1Sources: String = conf.getConf(SQLConf.USE_V1_SOURCE_LIST)

  private def made(table: CatalogTable, options: Map[String, String], written: Map[String, String]): LogicalRelation = {
    val relation = Sources.relation(Sources.dataSource(
      session,
      table.provider.get,
      options,
      Some(table.schema),
      table.partitionColumnNames,
      table.bucketSpec,
      Some(table)))
    RelationConnections.note(relation, written)
    LogicalRelation(relation, table)
  }
}

private object CatalogTables {
  val SessionCatalog = "spark_catalog"

  /** Of the resolved options that a relation was made with. */
  val MadeWith: TreeNodeTag[String] = TreeNodeTag[String]("sparkconfig.options")

  /** A relation of files beside the one that it was made of; no case class, which would show its options. */
  final class Kept(
      val table: CatalogTable,
      val v1Sources: String,
      val options: Map[String, String],
      val relation: LogicalRelation)

  val Kept: TreeNodeTag[Kept] = TreeNodeTag[Kept]("sparkconfig.files")

  /** The extractor of LogicalRelation itself has another number of parts in each version. */
  object LogicalRelationTable {
    def unapply(plan: LogicalPlan): Option[CatalogTable] = plan match {
      case logical: LogicalRelation => logical.catalogTable
      case _ => None
    }
  }
}
