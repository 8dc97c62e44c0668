package io.sparkconfig.bindings.sources

import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.datasources.{InsertIntoDataSourceCommand, LogicalRelation}
import org.apache.spark.sql.sources.BaseRelation
import org.apache.spark.sql.sparkconfig.Sessions

/**
 * Post-hoc resolution: views that were made with `USING` get the values of the moment, and the user of a relation that
 * a connection was needed for is asked whether he may.
 */
private[sources] final class RecipeRule(session: Sessions.Spark) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (Recipe.areNone) plan
    else AnalysisHelper.allowInvokingTransformsInAnalyzer(plan.transformDown {
      case node if Recipe.holder.isDefinedAt(node) => renewed(node, Connections.Read)
      case insert: InsertIntoDataSourceCommand =>
        Sources.edit(insert) { case view: LogicalRelation => renewed(view, Connections.Write) }
    })

  private def renewed(node: LogicalPlan, access: String): LogicalPlan = {
    val made = Recipe.holder(node)
    Recipe.now(session, made, access).fold(node) { now =>
      Sources.edit(node) {
        case held: BaseRelation if held eq made => now
        case held: Table if held eq made => now
      }
    }
  }
}
