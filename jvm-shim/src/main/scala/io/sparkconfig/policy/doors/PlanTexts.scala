package io.sparkconfig.policy.doors

import io.sparkconfig.policy.StatementItem.statement
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}

/**
 * How long a plan is as text. Spark writes each plan for the UI and the event log and keeps it for many statements, and
 * what it has computed beforehand stands there in full: `repeat` makes a hundred megabytes of twenty letters. If the
 * thread that listens runs out of memory, Spark stops the server of all users.
 */
private[doors] object PlanTexts extends ColumnarRule {
  private val Most = 1 << 20

  override def preColumnarTransitions: Rule[SparkPlan] = LastPlan

  private object LastPlan extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = {
      StatementDoor.asked.foreach { policies =>
        var left = Most
        plan.foreach(node => if (left >= 0) left -= node.simpleString(conf.maxToStringFields).length)
        if (left < 0) policies.statement(Set(statement("flood", s"a plan of more than $Most letters")))
      }
      plan
    }
  }
}
