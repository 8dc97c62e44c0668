package io.sparkconfig.policy.doors

import io.sparkconfig.policy.PolicyClient
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnresolvedDataSource}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.sparkconfig.Sessions

/** Since 4.0 a read is a plan before its source is made: its options are evaluated before the source sees them. */
private[sparkconfig] object ReadOptions {
  def inject(session: SparkSessionExtensions): Unit = FirstRules.inject(session)(_ => ReadRule)

  def late(node: LogicalPlan): Option[(Seq[String], Map[String, String], Boolean)] = None

  def forget(session: Sessions.Spark, node: LogicalPlan): Unit = ()
}

/** Hint resolution: `load`, and options that stand with a table (`WITH`, `read.option(...).table(...)`). */
private[sparkconfig] object ReadRule extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = {
    PolicyClient.running.foreach { policies =>
      OptionsDoor.fresh(plan) {
        case load: UnresolvedDataSource =>
          OptionsDoor.check(
            policies,
            OptionsDoor.Source,
            load.options.originalMap,
            load.isStreaming,
            SourceNames.of(load.format))
        case table: UnresolvedRelation =>
          OptionsDoor.check(policies, OptionsDoor.Source, OptionsDoor.texts(table.options), table.isStreaming)
        case _ =>
      }
    }
    plan
  }
}
