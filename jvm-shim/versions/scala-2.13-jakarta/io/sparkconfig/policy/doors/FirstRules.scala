package io.sparkconfig.policy.doors

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.sparkconfig.Sessions

/** The first rules of an analysis that an extension can add: since Spark 4.0 the rules of the hints. */
private[doors] object FirstRules {

  /** The field of an analyzer that holds them. */
  val ofAnalyzer = "hintResolutionRules"

  def inject(session: SparkSessionExtensions)(rule: Sessions.Spark => Rule[LogicalPlan]): Unit =
    session.injectHintResolutionRule(rule(_))

  /** For plans of SQL and of DataFrames. */
  def injectEach(session: SparkSessionExtensions)(rule: Sessions.Spark => Rule[LogicalPlan]): Unit =
    inject(session)(rule)

  /** For parsed plans. */
  def injectParsed(session: SparkSessionExtensions)(rule: Sessions.Spark => Rule[LogicalPlan]): Unit =
    inject(session)(rule)
}
