package io.sparkconfig.redaction

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, GenericInternalRow}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, ArrayData, GenericArrayData, MapData}
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.command.{ExecutedCommandExec, RunnableCommand}
import org.apache.spark.sql.execution.datasources.v2.V2CommandExec
import org.apache.spark.sql.types.{ArrayType, DataType, MapType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * Masks values in what commands answer: `SET`, `EXPLAIN`, `SHOW CREATE TABLE`, `DESCRIBE EXTENDED` and all others.
 * The rows are masked where they are made, so that Connect and Thrift clients get them like that too. What queries
 * answer is data and stays as it is.
 */
private[sparkconfig] object CommandOutput extends ColumnarRule {
  // Only names; spark-sql formats these by their class.
  private val Listings = Set("ShowTablesExec", "ShowViewsExec", "ShowNamespacesExec")

  override def preColumnarTransitions: Rule[SparkPlan] = Commands

  private object Commands extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = plan match {
      case done: RedactedCommandExec => done
      case command: ExecutedCommandExec => new RedactedCommandExec(command.cmd)
      case command: V2CommandExec if !Listings(command.getClass.getSimpleName) => RedactedV2CommandExec(command)
      case other => other
    }
  }

  private[redaction] def redact(row: InternalRow, output: Seq[Attribute]): InternalRow =
    if (Redactor.isEmpty) row
    else {
      val types = output.map(_.dataType)
      val old = types.indices.map(i => if (row.isNullAt(i)) null else row.get(i, types(i)))
      val safe = old.zip(types).map { case (value, kind) => redact(value, kind) }
      if (same(old, safe)) row else new GenericInternalRow(safe.toArray[Any])
    }

  private def redact(value: Any, kind: DataType): Any = (value, kind) match {
    case (null, _) => null
    case (text: UTF8String, _) =>
      val raw = text.toString
      val safe = Redactor.redact(raw)
      if (safe eq raw) text else UTF8String.fromString(safe)
    case (array: ArrayData, ArrayType(element, _)) => redact(array, element)
    case (map: MapData, MapType(key, element, _)) =>
      val keys = redact(map.keyArray(), key)
      val values = redact(map.valueArray(), element)
      if ((keys eq map.keyArray()) && (values eq map.valueArray())) map else new ArrayBasedMapData(keys, values)
    case (row: InternalRow, StructType(fields)) =>
      val old = fields.indices.map(i => if (row.isNullAt(i)) null else row.get(i, fields(i).dataType))
      val safe = old.zip(fields).map { case (inner, field) => redact(inner, field.dataType) }
      if (same(old, safe)) row else new GenericInternalRow(safe.toArray[Any])
    case (other, _) => other
  }

  private def redact(array: ArrayData, element: DataType): ArrayData = {
    val old = array.toSeq[Any](element)
    val safe = old.map(redact(_, element))
    if (same(old, safe)) array else new GenericArrayData(safe.toArray[Any])
  }

  private def same(old: Seq[Any], safe: Seq[Any]): Boolean =
    old.zip(safe).forall { case (a, b) => a.asInstanceOf[AnyRef] eq b.asInstanceOf[AnyRef] }
}

/** A subclass, since spark-sql looks for this class to format what some commands answer. */
private final class RedactedCommandExec(command: RunnableCommand) extends ExecutedCommandExec(command) {
  override def executeCollect(): Array[InternalRow] = super.executeCollect().map(CommandOutput.redact(_, output))
  override def executeToIterator(): Iterator[InternalRow] = super.executeToIterator().map(CommandOutput.redact(_, output))
  override def executeTake(limit: Int): Array[InternalRow] = super.executeTake(limit).map(CommandOutput.redact(_, output))
  override def executeTail(limit: Int): Array[InternalRow] = super.executeTail(limit).map(CommandOutput.redact(_, output))
  override protected def doExecute(): RDD[InternalRow] = sparkContext.parallelize(executeCollect().toSeq, 1)
}

/** The same for commands of catalogs. */
private final case class RedactedV2CommandExec(child: SparkPlan) extends UnaryExecNode {
  override def output: Seq[Attribute] = child.output
  override def nodeName: String = child.nodeName
  override def executeCollect(): Array[InternalRow] = child.executeCollect().map(CommandOutput.redact(_, output))
  override def executeToIterator(): Iterator[InternalRow] = executeCollect().iterator
  override def executeTake(limit: Int): Array[InternalRow] = executeCollect().take(limit)
  override def executeTail(limit: Int): Array[InternalRow] = executeCollect().takeRight(limit)
  override protected def doExecute(): RDD[InternalRow] = sparkContext.parallelize(executeCollect().toSeq, 1)
  override protected def withNewChildInternal(newChild: SparkPlan): SparkPlan = copy(child = newChild)
}
