package io.sparkconfig.policy.doors

import scala.collection.JavaConverters._

import io.sparkconfig.policy.PolicyDoors
import org.apache.spark.sql.catalyst.catalog.{CatalogStorageFormat, CatalogTable}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, TableSpec, V2WriteCommand}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.execution.datasources.{
  CreateTempViewUsing,
  InsertIntoHadoopFsRelationCommand,
  SaveIntoDataSourceCommand
}
import org.apache.spark.sql.sparkconfig.{GuardedConf, PolicyViolationException, Sessions}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * Post-hoc resolution: the options of writes, of tables and views that are made or changed, and of streams that
 * start. It stands before the rules that put values in place of references, so that no value is fetched for what
 * is refused, and after those of Spark's that make the commands.
 */
private[sparkconfig] final class OptionsRule(session: Sessions.Spark) extends Rule[LogicalPlan] {
  import OptionsRule._

  override def apply(plan: LogicalPlan): LogicalPlan = {
    PolicyDoors.running.foreach(doors => fresh(plan)(node => visit(doors, node)))
    plan
  }

  private def visit(doors: PolicyDoors, node: LogicalPlan): Unit = node match {
    case save: SaveIntoDataSourceCommand => check(doors, Sink, save.options)
    case write: InsertIntoHadoopFsRelationCommand =>
      // The options of a table were evaluated when it was made.
      if (write.catalogTable.isEmpty) check(doors, Sink, write.options)
    case write: V2WriteCommand => check(doors, Sink, maps(write))
    case view: CreateTempViewUsing => check(doors, Source, view.options)
    case start: WriteToStream =>
      val texts = doors.confs ++ GuardedConf.texts(Sessions.classic(session).sessionState.conf)
      doors.check("application", texts.map { case (key, text) => key -> Option(text) }, streaming = true)
      check(doors, Sink, fileSink(start.sink), streaming = true)
    case other => visitOthers(doors, other)
  }

  private def visitOthers(doors: PolicyDoors, node: LogicalPlan): Unit = node.getClass.getSimpleName match {
    // Its package differs between versions.
    case "WriteToMicroBatchDataSource" => check(doors, Sink, maps(node), streaming = true)
    case "InsertIntoDataSourceDirCommand" | "InsertIntoHiveDirCommand" =>
      arguments(node) { case storage: CatalogStorageFormat => check(doors, Sink, storage.properties) }
    case "SetTableProperties" | "AlterTableSetPropertiesCommand" => table(doors, Map.empty, maps(node))
    case "SetTableSerDeProperties" | "AlterTableSerDePropertiesCommand" => table(doors, maps(node), Map.empty)
    case name if name.startsWith("Create") || name.startsWith("Replace") =>
      arguments(node) {
        case made: CatalogTable => table(doors, made.storage.properties, made.properties)
        case made: TableSpec =>
          table(doors, made.options ++ maps(node), made.properties)
      }
    case _ => ReadOptions.late(node).foreach { case (options, streaming) =>
        try check(doors, Source, options, streaming)
        catch {
          case refused: PolicyViolationException =>
            ReadOptions.forget(session, node)
            throw refused
        }
      }
  }

  /** A table's options serve reads and writes; in a catalog of its own they are properties with a prefix. */
  private def table(doors: PolicyDoors, options: Map[String, String], properties: Map[String, String]): Unit = {
    val all = options ++ properties.collect {
      case (key, text) if key.startsWith(OptionPrefix) => key.stripPrefix(OptionPrefix) -> text
    }
    check(doors, Source, all)
    check(doors, Sink, all)
    check(doors, Catalog, properties)
  }
}

private[sparkconfig] object OptionsRule {
  val Source = "source"
  val Sink = "sink"
  private val Catalog = "catalog"
  private val OptionPrefix = "option."

  def check(doors: PolicyDoors, scope: String, options: Map[String, String], streaming: Boolean = false): Unit =
    doors.check(scope, options.map { case (key, text) => key -> Option(text) }, streaming)

  def texts(options: CaseInsensitiveStringMap): Map[String, String] = options.asCaseSensitiveMap.asScala.toMap

  /** Plans that are analysed already were checked before. */
  def fresh(plan: LogicalPlan)(check: LogicalPlan => Unit): Unit = if (!plan.analyzed) {
    check(plan)
    plan.children.foreach(fresh(_)(check))
    plan.subqueries.foreach(fresh(_)(check))
  }

  private def arguments(node: LogicalPlan)(check: PartialFunction[Any, Unit]): Unit =
    node.productIterator.foreach(argument => check.applyOrElse(argument, (_: Any) => ()))

  /** The maps of texts among a node's arguments. */
  private def maps(node: LogicalPlan): Map[String, String] = node.productIterator.flatMap {
    case map: Map[_, _] => entries(map)
    case Some(map: Map[_, _]) => entries(map)
    case _ => Nil
  }.toMap

  private def entries(map: Map[_, _]): Seq[(String, String)] =
    map.toSeq.collect { case (key: String, text: String) => key -> text }

  /** The sink of files takes its options when it is made, and shows them nowhere. */
  private def fileSink(sink: AnyRef): Map[String, String] =
    if (sink.getClass.getSimpleName != "FileStreamSink") Map.empty
    else {
      val field = sink.getClass.getDeclaredField("options")
      field.setAccessible(true)
      field.get(sink).asInstanceOf[Map[String, String]]
    }
}
