package io.sparkconfig.bindings.sources

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.analysis.ResolveDataSource
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnresolvedDataSource}
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.sparkconfig.Sessions
import org.apache.spark.sql.types.StructType

/** Spark 4.0 and later: loads are part of the plan. */
private[sources] object LoadRules {
  def inject(session: SparkSessionExtensions): Unit = session.injectHintResolutionRule(new LoadRule(_))

  def loaded(
      session: Sessions.Spark,
      provider: String,
      options: Map[String, String],
      schema: Option[StructType]): LogicalPlan =
    loaded(session, UnresolvedDataSource(provider, schema, CaseInsensitiveMap(options), isStreaming = false, Nil))

  def loaded(session: Sessions.Spark, load: UnresolvedDataSource): LogicalPlan =
    new ResolveDataSource(Sessions.classic(session)).apply(load)
}
