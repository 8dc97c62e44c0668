package io.sparkconfig.policy.doors

import scala.util.Try

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.plans.logical.{Command, CommandResult, LocalRelation, LogicalPlan}
import org.apache.spark.sql.types.{ArrayType, DataType, MapType, Metadata, StructType, UserDefinedType}

/**
 * Names, comments and defaults of columns. File readers and writers pass the schema through a Hadoop conf, which
 * expands `${...}` to environment variables, system properties and any of the server's confs. So a schema that is read
 * or written must not contain `${`, wherever it comes from.
 */
private[doors] object SchemaVariables {
  private def holds(text: String): Boolean = text.contains("${")

  def isIn(kind: DataType): Boolean = kind match {
    case struct: StructType =>
      struct.fields.exists(each => holds(each.name) || isIn(each.metadata) || isIn(each.dataType))
    case array: ArrayType => isIn(array.elementType)
    case map: MapType => isIn(map.keyType) || isIn(map.valueType)
    case own: UserDefinedType[_] => isIn(own.sqlType)
    case _ => false
  }

  def isIn(metadata: Metadata): Boolean = metadata != Metadata.empty && holds(metadata.json)

  /** Whether what a node reads or writes has such a name. */
  def isIn(node: LogicalPlan): Boolean =
    if (node.productIterator.exists(isMade)) true
    else if (node.children.isEmpty && queries(node).isEmpty) !isOfMemory(node) && isInOutput(node)
    else (node.isInstanceOf[Command] || isStream(node)) && (node.children ++ queries(node)).exists(isInOutput)

  private def isMade(argument: Any): Boolean = argument match {
    case table: CatalogTable => isIn(table.schema)
    case schema: StructType => isIn(schema)
    case _ => false
  }

  /** Rows that are in no file; where they are written, their names are looked at. */
  private def isOfMemory(node: LogicalPlan): Boolean = node.isInstanceOf[LocalRelation] ||
    node.isInstanceOf[CommandResult]

  private def queries(node: LogicalPlan): Seq[LogicalPlan] =
    node.productIterator.collect { case query: LogicalPlan => query }.toSeq

  private def isStream(node: LogicalPlan): Boolean = node.getClass.getSimpleName.startsWith("WriteTo")

  private def isInOutput(node: LogicalPlan): Boolean = Try(node.output).toOption.exists(_.exists { column =>
    holds(column.name) || isIn(column.metadata) || isIn(column.dataType)
  })
}
