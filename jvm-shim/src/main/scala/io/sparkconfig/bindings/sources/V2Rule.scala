package io.sparkconfig.bindings.sources

import scala.collection.JavaConverters._

import io.sparkconfig.core.NamedConnections
import org.apache.spark.sql.catalyst.analysis.NamedRelation
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, V2WriteCommand}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.connector.write.Write
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2Relation, V2Writes}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * Pre-CBO: V2 relations and writes get values. It stands here since the next batch builds scans and writes from
 * these options, and since the optimizer runs again for each query and micro-batch, so that each follows rotations.
 */
private[sparkconfig] object V2Rule extends Rule[LogicalPlan] {

  /** Its package and arguments differ between versions. */
  private val MicroBatchWrite = "WriteToMicroBatchDataSource"

  override def apply(plan: LogicalPlan): LogicalPlan = {
    checkBeside(plan)
    val written = plan match {
      case write: V2WriteCommand => batchWrite(write)
      case write if write.getClass.getSimpleName == MicroBatchWrite =>
        val resolved = withValues(write, Connections.Write)
        if (resolved eq write) write else V2Writes(resolved)
      case other => other
    }
    written.transformDown {
      case relation: DataSourceV2Relation if Options.hold(relation.options) => withValues(relation)
      // Files hold references since their load, or since 3.5 loaded them before there was a plan.
      case logical: LogicalRelation => withValues(logical)
    }
  }

  private def checkBeside(plan: LogicalPlan): Unit = {
    plan match {
      case write: V2WriteCommand => write.table match {
          case relation: DataSourceV2Relation =>
            Connections.requireBeside(relation.table, Options.texts(relation.options))
            write.productIterator.foreach {
              case options: Map[_, _] => Connections.requireBeside(relation.table, texts(options))
              case _ => ()
            }
          case _ => ()
        }
      case _ => ()
    }
    plan.foreach {
      case relation: DataSourceV2Relation =>
        Connections.requireBeside(relation.table, Options.texts(relation.options))
      case _ => ()
    }
  }

  private def withValues(node: LogicalPlan, access: String = Connections.Read): LogicalPlan = {
    val name = node match {
      case named: NamedRelation => named.name
      case other => other.nodeName
    }
    val table = node.productIterator.collectFirst {
      case found: Table => found
      case relation: DataSourceV2Relation => relation.table
    }
    def resolve(options: Map[String, String]): Map[String, String] = {
      val whole = Connections.expanded(table, options, access)
      if (node.isInstanceOf[DataSourceV2Relation])
        NamedConnections.withoutKey(Options.some(name, whole, _ => true))
      else Options.expandedForWrite(name, whole)
    }
    Sources.edit(node) {
      case options: CaseInsensitiveStringMap if Options.hold(options) =>
        new CaseInsensitiveStringMap(resolve(Options.texts(options)).asJava)
      case options: CaseInsensitiveMap[_] if Options.hold(texts(options)) =>
        CaseInsensitiveMap(resolve(texts(options)))
      case options: Map[_, _] if Options.hold(texts(options)) => resolve(texts(options))
    }
  }

  private def texts(options: Map[_, _]): Map[String, String] =
    options.iterator.collect { case (key: String, text: String) => key -> text }.toMap

  private def withValues(logical: LogicalRelation): LogicalRelation = logical.relation match {
    case files: HadoopFsRelation if Options.hold(files.options) =>
      // Formats look options up as they are written, and the map's own keys are in lower case.
      val values = CaseInsensitiveMap(Options.values(files.fileFormat.toString, files.options))
      val resolved = files.copy(options = values)(files.sparkSession)
      Sources.edit(logical) { case relation if relation == files => resolved }.asInstanceOf[LogicalRelation]
    case _ => logical
  }

  /**
   * Builds the write with values. In the node itself only what the build has made stays: its options are shown by
   * explain, so they are references again.
   */
  private def batchWrite(write: V2WriteCommand): LogicalPlan = {
    val table = write.table match {
      case relation: DataSourceV2Relation => withValues(relation, Connections.Write).asInstanceOf[NamedRelation]
      case other => other
    }
    val options = withValues(write, Connections.Write).asInstanceOf[V2WriteCommand]
    val resolved = if (table eq write.table) options else options.withNewTable(table)
    if (resolved eq write) write
    else {
      val built = V2Writes(resolved)
      if (built.getClass != write.getClass) built
      else write.makeCopy(built.productIterator.zip(write.productIterator).map {
        case (made @ Some(_: Write), _) => made
        case (query: LogicalPlan, _) if !query.isInstanceOf[NamedRelation] => query
        case (_, before) => before.asInstanceOf[AnyRef]
      }.map(_.asInstanceOf[AnyRef]).toArray)
    }
  }
}
