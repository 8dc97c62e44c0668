package io.sparkconfig.bindings

import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.sql.catalyst.plans.logical.{InsertIntoStatement, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTable
import org.apache.spark.sql.sparkconfig.RelationCacheHook

/**
 * Post-hoc resolution: who reads a relation of JDBC is asked about its connection, since another session may have made
 * the relation, and the tasks of this one will open it.
 */
private[bindings] object ConnectionRule extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan.foreach {
      // Private to Spark.
      case logical: LogicalRelation if logical.relation.getClass.getSimpleName == "JDBCRelation" =>
        allow(Reflect.get(logical.relation, "jdbcOptions").asInstanceOf[JDBCOptions])
      case relation: DataSourceV2Relation => relation.table match {
          case table: JDBCTable => allow(table.jdbcOptions)
          case _ => ()
        }
      case insert: InsertIntoStatement => RelationCacheHook.requireAllowed(insert.table)
      case _ => ()
    }
    plan
  }

  private def allow(options: JDBCOptions): Unit =
    JdbcBinding.allow(options.driverClass, ConnectionParts.of(options.parameters), options.parameters)
}
