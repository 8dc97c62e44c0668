package io.sparkconfig.policy.doors

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Range, RebalancePartitions, RepartitionOperation}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sparkconfig.PolicyViolationException

/**
 * Resolution: the partitions that `range`, hints and `repartition` number themselves. A million of them keeps the
 * driver busy, and all other users waiting. As many as the session's shuffles have are in order; more are a question
 * about the conf that says how many these may have.
 */
private object PartitionsRule extends Rule[LogicalPlan] {
  private val Key = SQLConf.SHUFFLE_PARTITIONS.key

  override def apply(plan: LogicalPlan): LogicalPlan = {
    StatementDoor.asked.foreach { policies =>
      OptionsDoor.fresh(plan) { node =>
        partitions(node).filter(_ > conf.numShufflePartitions).foreach { count =>
          val verdict = policies.evaluate("session", Map(Key -> Some(count.toString)))
          if (!verdict.allowed)
            throw new PolicyViolationException(s"$count partitions are as many as $Key may allow: ${verdict.message}")
        }
      }
    }
    plan
  }

  private def partitions(node: LogicalPlan): Option[Int] = node match {
    case range: Range => range.numSlices
    case parts: RepartitionOperation => Some(parts.numPartitions)
    case parts: RebalancePartitions => parts.optNumPartitions
    case _ => None
  }
}

/** How many partitions a plan may ask for. */
private[doors] object PartitionsDoor extends Door {
  override def name: String = "numbers of partitions"

  override def asks: Seq[Asked] = Seq(
    Asked(
      "`range(…, n)`, `repartition(n)` and hints with more partitions than the session's shuffles have",
      "when the statement is analysed",
      "the same",
      "the same"))

  override def open(session: SparkSessionExtensions): Unit = session.injectResolutionRule(_ => PartitionsRule)
}
