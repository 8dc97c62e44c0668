package org.apache.spark.sql.sparkconfig

import org.apache.spark.sql.execution.datasources.HadoopFsRelation
import org.apache.spark.sql.execution.datasources.jdbc.JDBCRelation
import org.apache.spark.sql.sources.BaseRelation

/** The options that a V1 relation was made with, of those that show them. */
object RelationOptions {
  def of(relation: BaseRelation): Map[String, String] = relation match {
    case files: HadoopFsRelation => files.options
    case jdbc: JDBCRelation => jdbc.jdbcOptions.parameters.originalMap
    case _ => Map.empty
  }
}
