package io.sparkconfig.bindings.sources

import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.{WriteToStream, WriteToStreamStatement}
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.sources.BaseRelation
import org.apache.spark.sql.sparkconfig.{ConnectorConfs, RelationCacheHook, RelationOptions, Sessions}

/**
 * Resolution in 3.5: streams get values when they start. Building it prepares the session's catalog, before
 * anything is analysed.
 */
private[sparkconfig] final class StartRule(session: Sessions.Spark) extends Rule[LogicalPlan] {
  RelationCacheHook.install(Sessions.catalog(session), new CatalogTables(session).relation(_, _))

  override def apply(plan: LogicalPlan): LogicalPlan = {
    ConnectorConfs.install(session)
    Procedures.refuse(plan)
    plan.foreach {
      case logical: LogicalRelation if isUnknown(logical.relation) => HeldTexts.refuse(logical.relation, Works)
      case _ => ()
    }
    plan match {
      case start: WriteToStreamStatement => starting(start)
      case start: WriteToStream => starting(start)
      case other => other
    }
  }

  /** Scala's load(), or that of a Python without this package; JDBC and files get their values later. */
  private def isUnknown(relation: BaseRelation): Boolean =
    !Sources.isOfFiles(relation) && RelationOptions.of(relation).isEmpty && Recipe.of(relation).isEmpty

  private val Works =
    "Spark 3.5 loads it before its options get values: CREATE TEMPORARY VIEW name USING source OPTIONS " +
      "(...) works, and load() in PySpark if the driver's Python has the package sparkconfig."

  private def starting(start: LogicalPlan): LogicalPlan = AnalysisHelper.allowInvokingTransformsInAnalyzer {
    Sources.edit(start.withNewChildren(start.children.map(StreamRelations.starting(session, _)))) {
      case sink: Table => StreamRelations.starting(session, sink)
    }
  }
}
