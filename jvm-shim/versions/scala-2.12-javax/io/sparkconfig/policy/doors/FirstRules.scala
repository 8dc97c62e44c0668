package io.sparkconfig.policy.doors

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.sparkconfig.{ParserHook, Sessions}

/** The first rules of an analysis that an extension can add: on Spark 3.5 the rules of the resolution. */
private[doors] object FirstRules {

  /** The field of an analyzer that holds them. */
  val ofAnalyzer = "extendedResolutionRules"

  def inject(session: SparkSessionExtensions)(rule: Sessions.Spark => Rule[LogicalPlan]): Unit =
    session.injectResolutionRule(rule(_))

  /** For plans of SQL, before resolution, and of DataFrames. */
  def injectEach(session: SparkSessionExtensions)(rule: Sessions.Spark => Rule[LogicalPlan]): Unit = {
    injectParsed(session)(rule)
    inject(session)(rule)
  }

  /** For parsed plans: 3.5 has no rule before resolution. */
  def injectParsed(session: SparkSessionExtensions)(rule: Sessions.Spark => Rule[LogicalPlan]): Unit =
    session.injectParser((spark, parser) => ParserHook.parsed(parser, ParserRefusal.of[LogicalPlan](rule(spark)(_))))
}
