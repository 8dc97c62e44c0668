package io.sparkconfig.bindings.sources

import io.sparkconfig.core.{Fingerprint, NamedConnections}
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType, CatalogUtils}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.catalyst.{QualifiedTableName, TableIdentifier}
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.sparkconfig.{PolicyViolationException, Sessions}

/**
 * Tables of V1 sources and files in the session catalog whose options hold references: their relations are made here,
 * since Spark's own rule (`FindDataSourceTable`) would hand the references to the source.
 */
private[sources] final class CatalogTables(session: Sessions.Spark) {

  /** For the catalog's cache of relations: the relation with the values of now, where the table needs them. */
  def relation(name: QualifiedTableName, cached: Option[LogicalPlan]): Option[LogicalPlan] = {
    val table = cached match {
      case Some(logical: LogicalRelation) => logical.catalogTable
      case Some(_) => None
      case None => metadata(name)
    }
    table.filter(needsValues(_)).map { found =>
      val options = eitherWay(access => values(found, Map.empty, access))
      val recipe = recipeOf(found, Map.empty, options)
      cached.collect { case logical: LogicalRelation if isOf(logical, recipe) => logical }
        .getOrElse(made(found, options, recipe))
    }
  }

  /** The relation of one reader or writer who adds options to a table; others do not share it. */
  def relation(table: CatalogTable, added: Map[String, String], access: String): LogicalRelation = {
    val options = values(table, added, access)
    made(table, options, recipeOf(table, added, options))
  }

  def needsValues(table: CatalogTable, added: Map[String, String] = Map.empty): Boolean =
    table.tableType != CatalogTableType.VIEW && table.provider.exists(_ != "hive") &&
      (Options.hold(table.storage.properties) || Options.hold(added))

  /**
   * Exactly what Spark would give the source, but for values. Where a connection leads, it says itself; and to a
   * database's driver the table's folder, of which it knows nothing, would be a property that no policy allows.
   */
  private def values(table: CatalogTable, added: Map[String, String], access: String): Map[String, String] = {
    val conf = Sessions.classic(session).sessionState.conf
    val texts = written(table, added)
    val path = table.storage.locationUri.map(location => "path" -> CatalogUtils.URIToString(location))
    Sources.options(table.provider.get, texts, conf, access) ++
      path.filterNot(_ => NamedConnections.isNamed(texts) || JdbcOptions.isJdbc(table.provider.get, conf))
  }

  /** A copy: what comes from Hive's metastore is a view of Scala 2.12's, which tasks cannot carry. */
  private def written(table: CatalogTable, added: Map[String, String]): Map[String, String] = {
    val own = CaseInsensitiveMap(table.storage.properties)
    Map.empty[String, String] ++ added.filterNot { case (key, _) => own.contains(key) } ++ table.storage.properties
  }

  private def recipeOf(table: CatalogTable, added: Map[String, String], options: Map[String, String]): Recipe =
    new Recipe(table.provider.get, written(table, added), Some(table.schema), Fingerprint.of(options), isView = false)

  private def isOf(known: LogicalRelation, recipe: Recipe): Boolean =
    Recipe.of(known.relation).exists(each => each.isOf(recipe) && each.values == recipe.values)

  /** Whether it will be read or written is not known yet; [[RecipeRule]] asks again for what is done. */
  private def eitherWay[T](call: String => T): T =
    try call(Connections.Read)
    catch {
      case refused: PolicyViolationException =>
        try call(Connections.Write)
        catch { case _: PolicyViolationException => throw refused }
    }

  private def made(table: CatalogTable, options: Map[String, String], recipe: Recipe): LogicalRelation = {
    val source = Sources.dataSource(
      session,
      table.provider.get,
      options,
      Some(table.schema),
      table.partitionColumnNames,
      table.bucketSpec,
      Some(table))
    val relation = LogicalRelation(Sources.relation(source), table)
    val shown = StreamRelations.asWritten(relation, CaseInsensitiveMap(recipe.texts)).asInstanceOf[LogicalRelation]
    Recipe.note(shown.relation, recipe)
    shown
  }

  private def metadata(name: QualifiedTableName): Option[CatalogTable] =
    try Some(Sessions.catalog(session).getTableMetadata(TableIdentifier(name.name, Some(name.database))))
    catch { case _: NoSuchTableException => None }
}
