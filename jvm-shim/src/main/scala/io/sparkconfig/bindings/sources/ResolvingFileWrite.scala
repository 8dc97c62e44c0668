package io.sparkconfig.bindings.sources

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.catalog.CatalogTypes.TablePartitionSpec
import org.apache.spark.sql.catalyst.catalog.{BucketSpec, CatalogTable}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.datasources.{FileFormat, FileIndex, InsertIntoHadoopFsRelationCommand}
import org.apache.spark.sql.sparkconfig.Sessions
import org.apache.spark.sql.{Row, SaveMode}

/**
 * A file write whose options get values when it runs. As a subclass it is planned, sorted and shown like the
 * command that it stands for; its twelve arguments are the same in 3.5 to 4.3.
 */
private[sparkconfig] final class ResolvingFileWrite(
    outputPath: Path,
    staticPartitions: TablePartitionSpec,
    ifPartitionNotExists: Boolean,
    partitionColumns: Seq[Attribute],
    bucketSpec: Option[BucketSpec],
    fileFormat: FileFormat,
    options: Map[String, String],
    query: LogicalPlan,
    mode: SaveMode,
    catalogTable: Option[CatalogTable],
    fileIndex: Option[FileIndex],
    outputColumnNames: Seq[String])
  extends InsertIntoHadoopFsRelationCommand(
    outputPath,
    staticPartitions,
    ifPartitionNotExists,
    partitionColumns,
    bucketSpec,
    fileFormat,
    options,
    query,
    mode,
    catalogTable,
    fileIndex,
    outputColumnNames) {

  // A case class's copy would be an object of the class above, which does not resolve.
  override protected def withNewChildInternal(child: LogicalPlan): InsertIntoHadoopFsRelationCommand =
    ResolvingFileWrite(this, child)

  override def run(session: Sessions.Classic, child: SparkPlan): Seq[Row] = {
    val resolved = copy(options = Options.values(fileFormat.toString, options, Connections.Write))
    val rows = resolved.run(session, child)
    resolved.metrics.foreach { case (name, metric) => metrics.get(name).foreach(_.set(metric.value)) }
    rows
  }

  // Equality of the case class would make tree transformations keep the node that this one replaces.
  override def canEqual(other: Any): Boolean = other.isInstanceOf[ResolvingFileWrite]
  override def equals(other: Any): Boolean = canEqual(other) && super.equals(other)
  override def hashCode: Int = super.hashCode

  override def nodeName: String = "InsertIntoHadoopFsRelationCommand"
}

private[sparkconfig] object ResolvingFileWrite {
  def apply(write: InsertIntoHadoopFsRelationCommand, query: LogicalPlan): ResolvingFileWrite =
    new ResolvingFileWrite(
      write.outputPath,
      write.staticPartitions,
      write.ifPartitionNotExists,
      write.partitionColumns,
      write.bucketSpec,
      write.fileFormat,
      write.options,
      query,
      write.mode,
      write.catalogTable,
      write.fileIndex,
      write.outputColumnNames)
}
