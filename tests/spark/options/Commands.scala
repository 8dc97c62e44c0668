package sparkconfigtest

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.command.{
  CreateDataSourceTableAsSelectCommand,
  CreateDataSourceTableCommand,
  LeafRunnableCommand
}
import org.apache.spark.sql.{Row, SparkSession, SparkSessionExtensions}

/** As Hudi does: it makes commands of its own of Spark's, for tables whose property `taken` says so. */
class TakingExtension extends (SparkSessionExtensions => Unit) {
  override def apply(session: SparkSessionExtensions): Unit = session.injectPostHocResolutionRule(_ => Taking)
}

object Taking extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case create: CreateDataSourceTableCommand if isTaken(create.table) => TakenTable(create.table)
    case create: CreateDataSourceTableAsSelectCommand if isTaken(create.table) => TakenTable(create.table)
    case other => other
  }

  private def isTaken(table: CatalogTable) =
    table.properties.contains("taken") || table.storage.properties.contains("taken")
}

case class TakenTable(table: CatalogTable) extends LeafRunnableCommand {
  override def run(session: SparkSession): Seq[Row] = {
    Store.enter("taken", table.properties ++ table.storage.properties)
    Nil
  }
}
