package io.sparkconfig.policy.doors

import io.sparkconfig.policy.StatementItem.statement
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.plans.logical.{
  LogicalPlan,
  Range,
  RebalancePartitions,
  RepartitionOperation,
  V2CreateTablePlan
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.adaptive.{AQEShuffleReadExec, AdaptiveSparkPlanExec, QueryStageExec}
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec
import org.apache.spark.sql.execution.datasources.CreateTable
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.joins.CartesianProductExec
import org.apache.spark.sql.execution.{ColumnarRule, LeafExecNode, RDDScanExec, SparkPlan, UnionExec}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sparkconfig.PolicyViolationException

/**
 * Resolution: the partitions that `range`, hints, `repartition` and buckets number themselves. A million of them keeps
 * the driver busy, and all other users waiting. As many as the session's shuffles have are in order; more are a
 * question about the conf that says how many these may have.
 */
private object PartitionsRule extends Rule[LogicalPlan] {
  private val Key = SQLConf.SHUFFLE_PARTITIONS.key

  override def apply(plan: LogicalPlan): LogicalPlan = {
    StatementDoor.asked.foreach { policies =>
      OptionsDoor.fresh(plan) { node =>
        partitions(node).filter(_ > conf.getConf(SQLConf.SHUFFLE_PARTITIONS)).foreach { count =>
          val verdict = policies.evaluate("session", Map(Key -> Some(count.toString)))
          if (!verdict.allowed)
            throw new PolicyViolationException(s"$count partitions, which $Key bounds, too: ${verdict.message}")
        }
      }
    }
    plan
  }

  private def partitions(node: LogicalPlan): Option[Int] = node match {
    case range: Range => range.numSlices
    case parts: RepartitionOperation => Some(parts.numPartitions)
    case parts: RebalancePartitions => parts.optNumPartitions
    case made: V2CreateTablePlan => made.partitioning.collectFirst { case TableDoor.Buckets(number) => number }
    case made: CreateTable => made.tableDesc.bucketSpec.map(_.numBuckets)
    case _ => None
  }
}

/** Before a plan runs: what unions add up, and joins without a condition multiply. */
private object TasksRule extends ColumnarRule {
  private val Most = 100000

  override def preColumnarTransitions: Rule[SparkPlan] = LastPlan

  private object LastPlan extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = {
      val stages = plan +: plan.collect { case exchange: Exchange => exchange.child }
      StatementDoor.asked.filter(_ => stages.exists(tasks(_) > Most)).foreach { policies =>
        policies.statement(Set(statement("tasks", s"more than $Most of one stage")))
      }
      plan
    }
  }

  /** Of the stage that ends here. What reads files has as many as these allow, and counts as one. */
  private def tasks(plan: SparkPlan): Double = plan match {
    case cached: InMemoryTableScanExec => tasks(cached.relation.cachedPlan)
    case adaptive: AdaptiveSparkPlanExec => tasks(adaptive.executedPlan)
    case stage: QueryStageExec => tasks(stage.plan)
    case rows: RDDScanExec => rows.rdd.getNumPartitions.toDouble
    case _: Exchange | _: AQEShuffleReadExec | _: LeafExecNode => math.max(plan.outputPartitioning.numPartitions, 1)
    case _: CartesianProductExec => plan.children.map(tasks).product
    case _: UnionExec => plan.children.map(tasks).sum
    case _ => plan.children.map(tasks).foldLeft(1d)(math.max)
  }
}

/** How large a plan may be: its partitions, tasks and text. */
private[doors] object PartitionsDoor extends Door {
  override def name: String = "sizes of plans"

  override def asks: Seq[Asked] = Seq(
    Asked(
      "`range(…, n)`, `repartition(n)` and hints with more partitions than the session's shuffles have",
      "when the statement is analysed",
      "the same",
      "the same"),
    Asked("a plan of more than 1,048,576 letters", "before it runs", "the same", "the same"))

  override def open(session: SparkSessionExtensions): Unit = {
    session.injectResolutionRule(_ => PartitionsRule)
    session.injectColumnar(_ => TasksRule)
    session.injectColumnar(_ => PlanTexts)
  }
}
