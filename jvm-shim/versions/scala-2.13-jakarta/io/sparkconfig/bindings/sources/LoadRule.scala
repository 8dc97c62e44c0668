package io.sparkconfig.bindings.sources

import scala.collection.mutable

import io.sparkconfig.core.Fingerprint
import org.apache.spark.sql.catalyst.analysis.{AnalysisContext, EliminateSubqueryAliases, UnresolvedRelation}
import org.apache.spark.sql.catalyst.catalog.UnresolvedCatalogRelation
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.plans.logical.{
  AnalysisHelper,
  InsertIntoStatement,
  LogicalPlan,
  SubqueryAlias,
  UnresolvedDataSource,
  UnresolvedTableSpec
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.sparkconfig.{
  CatalogHook,
  ConnectorConfs,
  OptionReferenceException,
  RelationCacheHook,
  Sessions
}

/**
 * Hint resolution, the first batch that sees a `load` and a table's name (4.0; in 3.5 `load` makes the relation
 * before there is a plan): sources are loaded with values, and the plan keeps the references.
 */
private[sparkconfig] final class LoadRule(session: Sessions.Spark) extends Rule[LogicalPlan] {
  private val tables = new CatalogTables(session)

  override def apply(plan: LogicalPlan): LogicalPlan = {
    CatalogHook.install(session, CatalogOptions)
    ConnectorConfs.install(session)
    Procedures.refuse(plan)
    RelationCacheHook.install(Sessions.catalog(session), tables.relation(_, _))
    AnalysisHelper.allowInvokingTransformsInAnalyzer(loaded(plan))
  }

  private def loaded(plan: LogicalPlan): LogicalPlan =
    plan.transformDownWithSubqueries {
      case load: UnresolvedDataSource => resolved(load)
      case insert: InsertIntoStatement => insert.table match {
          case relation: UnresolvedRelation => Sources.edit(insert) {
              case argument: AnyRef if argument eq relation =>
                EliminateSubqueryAliases(withAdded(relation, Connections.Write))
            }
          case _ => insert
        }
      case relation: UnresolvedRelation if !relation.isStreaming => withAdded(relation, Connections.Read)
      case create if create.productIterator.exists(_.isInstanceOf[UnresolvedTableSpec]) =>
        refuseLocation(create)
        create
      case start: WriteToStreamStatement =>
        Sources.edit(start.withNewChildren(start.children.map(StreamRelations.starting(session, _)))) {
          case sink: Table => StreamRelations.starting(session, sink)
        }
    }

  private def resolved(load: UnresolvedDataSource): LogicalPlan = {
    val texts = Sources.withSessionConfs(load.format, load.options.originalMap, conf)
    if (Options.hold(texts) || load.paths.exists(held)) resolved(load, texts) else load
  }

  private def resolved(load: UnresolvedDataSource, texts: Map[String, String]): LogicalPlan = {
    Connections.requireNoPaths(texts, load.paths)
    val paths = load.paths.map(path => Options.values(load.format, Map("path" -> path))("path"))
    val options =
      if (load.isStreaming) Options.values(load.format, texts) else Sources.options(load.format, texts, conf)
    val made = LoadRules.loaded(session, load.copy(options = CaseInsensitiveMap(options), paths = paths))
    if (!load.isStreaming) {
      val recipe = new Recipe(load.format, texts, load.userSpecifiedSchema, Fingerprint.of(options), isView = false)
      made.collect(Recipe.holder).foreach(Recipe.note(_, recipe))
    }
    StreamRelations.asWritten(made, CaseInsensitiveMap(texts))
  }

  /**
   * A table to which a reader or writer adds options: Spark's cache of relations, which gives a table its values, does
   * not know these. Spark's own rule finds the table; what it remembers of that is for this relation alone.
   */
  private def withAdded(relation: UnresolvedRelation, access: String): LogicalPlan = {
    val added = Options.texts(relation.options).filterNot { case (key, _) => key.startsWith("__") }
    if (added.isEmpty) relation
    else {
      // Pairs in 4.0; a later Spark has a class for the keys, and the jar is compiled once for all of them.
      val remembered = AnalysisContext.get.relationCache.asInstanceOf[mutable.Map[Any, LogicalPlan]]
      val before = remembered.keySet.toSet
      val found =
        try Sessions.classic(session).sessionState.analyzer.ResolveRelations(relation)
        finally remembered.keySet.toSet.diff(before).foreach(remembered.remove)
      found match {
        case alias: SubqueryAlias => alias.child match {
            case table: UnresolvedCatalogRelation
                if tables.needsValues(table.tableMeta, added) && !Sources.isFile(table.tableMeta.provider.get, conf) =>
              alias.copy(child = tables.relation(table.tableMeta, added, access))
            case _ => relation
          }
        case _ => relation
      }
    }
  }

  /** A catalog keeps locations as URIs, in which a reference would be no reference any more. */
  private def refuseLocation(create: LogicalPlan): Unit = for {
    spec <- create.productIterator.collectFirst { case found: UnresolvedTableSpec => found }
    option = spec.optionExpression.options.collectFirst {
      case (key, Literal(text, _)) if key.equalsIgnoreCase("path") && text != null => text.toString
    }
    location <- (spec.location ++ option).find(held)
  } throw new OptionReferenceException(
    s"The location of a table holds the reference $location, which a catalog cannot keep. Write the location " +
      "itself, or load the path without a table.")

  private def held(path: String) = io.sparkconfig.core.Expression.mayHold(path)
}
