package io.sparkconfig.bindings.sources

import org.apache.spark.sql.catalyst.analysis.{EliminateSubqueryAliases, UnresolvedRelation}
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.plans.logical.{
  AnalysisHelper,
  InsertIntoStatement,
  LogicalPlan,
  UnresolvedDataSource,
  UnresolvedTableSpec
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.sparkconfig.{CatalogHook, ConnectorConfs, OptionReferenceException, Sessions}

/**
 * Hint resolution, the first batch that sees a `load` and a table's name (4.0; in 3.5 `load` makes the relation
 * before there is a plan): sources are loaded with values, and the plan keeps the references.
 */
private[sparkconfig] final class LoadRule(session: Sessions.Spark) extends Rule[LogicalPlan] {
  private val tables = new CatalogTables(session)

  override def apply(plan: LogicalPlan): LogicalPlan = {
    CatalogHook.install(session, CatalogOptions)
    ConnectorConfs.install(session)
    AnalysisHelper.allowInvokingTransformsInAnalyzer(loaded(plan))
  }

  private def loaded(plan: LogicalPlan): LogicalPlan =
    plan.transformDownWithSubqueries {
      case load: UnresolvedDataSource => resolved(load)
      case insert: InsertIntoStatement => insert.table match {
          case relation: UnresolvedRelation => tables.forInsert(relation) match {
              case Some(table) => Sources.edit(insert) {
                  case argument: AnyRef if argument eq relation => EliminateSubqueryAliases(table)
                }
              case None => insert
            }
          case _ => insert
        }
      case relation: UnresolvedRelation if !relation.isStreaming => tables.forRead(relation).getOrElse(relation)
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
    HeldLoad(session, load.copy(options = CaseInsensitiveMap(texts)), conf)
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
