package io.sparkconfig.bindings.sources

import org.apache.spark.sql.sources.{BaseRelation, CreatableRelationProvider}
import org.apache.spark.sql.{DataFrame, SQLContext, SaveMode}

/**
 * Writes through a V1 source that gets values in place of references. The command that holds it keeps the
 * references, and stays the class that listeners know.
 *
 * @param options the texts that are written down in the plan to what the source needs
 */
private[sparkconfig] final class ResolvingProvider(
    val inner: CreatableRelationProvider,
    options: Map[String, String] => Map[String, String])
  extends CreatableRelationProvider {

  override def createRelation(
      context: SQLContext,
      mode: SaveMode,
      parameters: Map[String, String],
      data: DataFrame): BaseRelation =
    inner.createRelation(context, mode, options(parameters), data)

  override def toString: String = inner.toString
}
