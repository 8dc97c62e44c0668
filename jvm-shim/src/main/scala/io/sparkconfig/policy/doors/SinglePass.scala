package io.sparkconfig.policy.doors

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sparkconfig.{PolicyViolationException, Sessions}

/**
 * Spark's single-pass analyzer calls no rule of a session extension, so it would pass by all doors and leave references
 * where they stand. With it no statement runs. Strategies are asked about every plan, commands included.
 */
private final class SinglePassStrategy(session: Sessions.Spark) extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = {
    val conf = Sessions.classic(session).sessionState.conf
    SinglePass.problem((key, default) => conf.getConfString(key, default)).foreach { text =>
      throw new PolicyViolationException(text)
    }
    Nil
  }
}

private[sparkconfig] object SinglePass extends Door {
  override def name: String = "the single-pass analyzer"

  override def asks: Seq[Asked] = Seq(
    Asked(
      "statements that Spark's single-pass analyzer would analyse, past all other doors",
      "refused, with policies and without",
      "refused",
      "that analyzer does not exist"))

  /** References would stay where they stand, too. */
  override def always: Boolean = true

  override def open(session: SparkSessionExtensions): Unit = session.injectPlannerStrategy(new SinglePassStrategy(_))

  private val Prefix = "spark.sql.analyzer.singlePassResolver."

  /** What makes its plan the one that runs. In a dual run without the last one, both analyzers see the statement. */
  private val Switches = Seq("enabled", "enabledTentatively", "returnSinglePassResultInDualRun").map(Prefix + _)

  /** @param text a conf's text by its key, or the default given */
  def problem(text: (String, String) => String): Option[String] =
    Switches.find(key => text(key, "false").trim.equalsIgnoreCase("true")).map { key =>
      s"$key=true: Spark's single-pass analyzer skips the rules that resolve references and ask the policies, so " +
        s"sparkconfig lets nothing run with it. Unset it."
    }
}
