package io.sparkconfig.bindings.sources

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.sparkconfig.{ParserHook, Sessions}
import org.apache.spark.sql.types.StructType

/** Spark 3.5 has no hint resolution: sources are loaded before there is a plan. */
private[sources] object LoadRules {
  def inject(session: SparkSessionExtensions): Unit = {
    session.injectParser((spark, parser) => ParserHook(spark, parser, CatalogOptions))
    session.injectResolutionRule(new StartRule(_))
  }

  def loaded(
      session: Sessions.Spark,
      provider: String,
      options: Map[String, String],
      schema: Option[StructType]): LogicalPlan =
    LogicalRelation(Sources.relation(Sources.dataSource(session, provider, options, schema)))
}
