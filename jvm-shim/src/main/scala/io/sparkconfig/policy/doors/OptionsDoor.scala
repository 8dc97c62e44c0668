package io.sparkconfig.policy.doors

import java.util.Locale

import scala.collection.JavaConverters._

import io.sparkconfig.core.{Expression, NamedConnections}
import io.sparkconfig.policy.{PolicyClient, StatementItem}
import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.analysis.ResolvedTable
import org.apache.spark.sql.catalyst.catalog.{CatalogStorageFormat, CatalogTable}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, TableSpec, V2WriteCommand}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
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
 * is refused, and after Spark's rules that make the commands.
 */
private final class OptionsRule(session: Sessions.Spark) extends Rule[LogicalPlan] {
  import OptionsDoor._

  override def apply(plan: LogicalPlan): LogicalPlan = {
    PolicyClient.running.foreach(policies => fresh(plan)(node => visit(policies, node)))
    plan
  }

  private def visit(policies: PolicyClient, node: LogicalPlan): Unit = node match {
    case save: SaveIntoDataSourceCommand =>
      check(policies, Sink, save.options, formats = SourceNames.of(save.dataSource))
    case write: InsertIntoHadoopFsRelationCommand =>
      // The options of a table were evaluated when it was made.
      if (write.catalogTable.isEmpty) check(policies, Sink, write.options, formats = SourceNames.of(write.fileFormat))
    case write: V2WriteCommand => check(policies, Sink, maps(write) ++ active(write), formats = target(write))
    case view: CreateTempViewUsing =>
      check(policies, Source, view.options, formats = SourceNames.of(view.provider))
    case start: WriteToStream =>
      checkpoint(start)
      val texts = policies.confs ++ GuardedConf.texts(Sessions.classic(session).sessionState.conf)
      policies.check("application", texts.map { case (key, text) => key -> Option(text) }, streaming = true)
      check(policies, Sink, fileSink(start.sink), streaming = true)
    case other => visitOthers(policies, other)
  }

  /**
   * Below the root of spark.sql.streaming.checkpointLocation, a stream's name is a path. Without a name the place is
   * the user's own text, which was judged, or one that Spark makes for this stream alone.
   */
  private def checkpoint(start: WriteToStream): Unit =
    if (start.name != null && !start.deleteCheckpointOnStop) StatementDoor.asked.foreach { policies =>
      val path = StatementItem.path(start.resolvedCheckpointLocation, "checkpoint", StatementDoor.conf(session))
      policies.statement(Set(path))
    }

  private def visitOthers(policies: PolicyClient, node: LogicalPlan): Unit = node.getClass.getSimpleName match {
    // Its package differs between versions.
    case "WriteToMicroBatchDataSource" => check(policies, Sink, maps(node), streaming = true, target(node))
    case "InsertIntoDataSourceDirCommand" | "InsertIntoHiveDirCommand" =>
      val formats = node.productIterator.collectFirst { case name: String => SourceNames.of(name) }.getOrElse(Nil)
      arguments(node) { case storage: CatalogStorageFormat =>
        check(policies, Sink, storage.properties, formats = formats)
      }
    case "SetTableProperties" | "AlterTableSetPropertiesCommand" => change(policies, node, Map.empty, maps(node))
    case "SetTableSerDeProperties" | "AlterTableSerDePropertiesCommand" => change(policies, node, maps(node), Map.empty)
    case "SetTableLocation" | "AlterTableSetLocationCommand" => change(policies, node, Map.empty, Map.empty)
    case "CreateViewCommand" => table(policies, None, Map.empty, maps(node))
    case "CreateTableLikeCommand" => table(policies, None, Map.empty, maps(node))
    // Delta's: a copy has the properties of its source, and these besides.
    case "CloneTableStatement" | "CloneTableCommand" => table(policies, None, Map.empty, maps(node), readsAll = true)
    case "CreateDeltaTableCommand" if clone(node).isDefined => clone(node).foreach(visit(policies, _))
    case name if name.startsWith("Create") || name.startsWith("Replace") =>
      arguments(node) {
        case made: CatalogTable =>
          val readsAll = made.provider.exists(isLibrarys)
          table(policies, made.provider, made.storage.properties, made.properties, readsAll)
        case made: TableSpec =>
          val readsAll = made.provider.forall(isLibrarys)
          table(policies, made.provider, made.options ++ maps(node), made.properties, readsAll)
      }
    case _ => ReadOptions.late(node).foreach { case (formats, options, streaming) =>
        // What a connection sets is the operator's: its use was asked about when it joined the user's options.
        try check(policies, Source, NamedConnections.written(options), streaming, formats)
        catch {
          case refused: PolicyViolationException =>
            ReadOptions.forget(session, node)
            throw refused
        }
      }
  }

  private def clone(node: LogicalPlan): Option[LogicalPlan] = node.productIterator.collectFirst {
    case Some(query: LogicalPlan) if query.getClass.getSimpleName == "CloneTableCommand" => query
  }

  /**
   * Whoever changes where a table leads, or what is read there, does so for all who use it: with a reference or a
   * connection in its options, he needs the right to use that himself.
   */
  private def change(
      policies: PolicyClient,
      node: LogicalPlan,
      options: Map[String, String],
      properties: Map[String, String]): Unit = {
    val (provider, held) = before(node)
    val isOfCatalog = node.children.exists(_.isInstanceOf[ResolvedTable])
    val readsAll = if (isOfCatalog) provider.forall(isLibrarys) else provider.exists(isLibrarys)
    val isOthers = held.exists { case (key, text) => Expression.mayHold(text) || NamedConnections.isKey(key) }
    val isPlain = !isOthers || properties.nonEmpty && !properties.keys.exists(_.startsWith(OptionPrefix))
    if (isPlain) table(policies, None, options, properties, readsAll)
    else {
      val connection = NamedConnections.nameIn(held).map(StatementItem("connection", _, StatementItem.Write))
      policies.statement(connection.toSet)
      table(policies, provider, NamedConnections.withoutKey(held) ++ options, properties, readsAll)
    }
  }

  /** The source and the options of the table that a command changes. */
  private def before(node: LogicalPlan): (Option[String], Map[String, String]) =
    node.productIterator.collectFirst { case name: TableIdentifier =>
      val known = Sessions.catalog(session).getTableMetadata(name)
      known.provider -> known.storage.properties
    }.orElse(node.children.collectFirst { case found: ResolvedTable =>
      val texts = found.table.properties.asScala.toMap
      texts.get("provider") -> texts.collect {
        case (key, text) if key.startsWith(OptionPrefix) => key.stripPrefix(OptionPrefix) -> text
      }
    }).getOrElse(None -> Map.empty)

  /**
   * A table's options serve reads and writes; in a catalog of its own they are properties with a prefix, and Spark
   * takes some properties of Hive's tables for options, too.
   *
   * @param readsAll properties are like options to the library of this table, see [[OptionsDoor.isLibrarys]]
   */
  private def table(
      policies: PolicyClient,
      provider: Option[String],
      options: Map[String, String],
      properties: Map[String, String],
      readsAll: Boolean = false): Unit = {
    val formats = provider.toSeq.flatMap(SourceNames.of(_))
    val all = options ++ properties.collect {
      case (key, text) if key.startsWith(OptionPrefix) => key.stripPrefix(OptionPrefix) -> text
      case (key, text) if readsAll && key.contains(".") => key -> text
      case (key, text) if SqlSurface.property.of(key.toLowerCase(Locale.ROOT)).isDefined => key -> text
    }
    check(policies, Source, all, formats = formats)
    check(policies, Sink, all, formats = formats)
    check(policies, Catalog, properties, formats = formats)
  }
}

/** Options and properties of what is written, made or changed. */
private[sparkconfig] object OptionsDoor extends Door {
  override def name: String = "options of writes and tables"

  override def asks: Seq[Asked] = Seq(
    Asked(
      "writes, INSERT OVERWRITE DIRECTORY, streams of files and V2 sinks",
      "before they run",
      "the same",
      "before they run"),
    Asked(
      "OPTIONS and TBLPROPERTIES of tables and views, ALTER TABLE",
      "before they run",
      "the same",
      "before they run"))

  override def open(session: SparkSessionExtensions): Unit =
    session.injectPostHocResolutionRule(new OptionsRule(_))

  val Source = "source"
  val Sink = "sink"
  private[doors] val Catalog = "catalog"
  private[doors] val OptionPrefix = "option."

  def check(
      policies: PolicyClient,
      scope: String,
      options: Map[String, String],
      streaming: Boolean = false,
      formats: Seq[String] = Nil): Unit =
    policies.check(scope, options.map { case (key, text) => key -> Option(text) }, streaming, formats)

  /** The source that a V2 write or a stream goes to. */
  private[doors] def target(node: LogicalPlan): Seq[String] = node.productIterator.collectFirst {
    case relation: DataSourceV2Relation => SourceNames.of(relation.table)
    case table: Table => SourceNames.of(table)
  }.getOrElse(Nil)

  /**
   * Whether the source of a table belongs to a library, which reads the table's properties as confs: by Delta's a table
   * names what commits its changes, and Iceberg hands all of them to Hadoop. A name without a dot is never a conf.
   */
  private[doors] def isLibrarys(provider: String): Boolean = !SourceNames.isSparks(provider)

  /**
   * Properties of the table that is written: some of Iceberg's name classes, and its writers hand all of them to
   * Hadoop, which expands them as it does options, and finds file systems by them. The table's metadata may be a file
   * that a user has written.
   */
  private[doors] def active(node: LogicalPlan): Map[String, String] = node.productIterator.collectFirst {
    case relation: DataSourceV2Relation => relation.table.properties.asScala.toMap.filter {
        case (key, text) => text.contains("${") || OfHadoop.matcher(key).matches
      }
  }.getOrElse(Map.empty)

  private val OfHadoop = "(?s)(fs|dfs|hadoop)\\..*|.*(impl|class)".r.pattern

  def texts(options: CaseInsensitiveStringMap): Map[String, String] = options.asCaseSensitiveMap.asScala.toMap

  /** Plans that are analysed already were checked before. */
  def fresh(plan: LogicalPlan)(check: LogicalPlan => Unit): Unit = if (!plan.analyzed) {
    check(plan)
    plan.children.foreach(fresh(_)(check))
    plan.subqueries.foreach(fresh(_)(check))
  }

  private[doors] def arguments(node: LogicalPlan)(check: PartialFunction[Any, Unit]): Unit =
    node.productIterator.foreach(argument => check.applyOrElse(argument, (_: Any) => ()))

  /** The maps of texts among a node's arguments. */
  private[doors] def maps(node: LogicalPlan): Map[String, String] = node.productIterator.flatMap {
    case map: Map[_, _] => entries(map)
    case Some(map: Map[_, _]) => entries(map)
    case _ => Nil
  }.toMap

  private def entries(map: Map[_, _]): Seq[(String, String)] =
    map.toSeq.collect { case (key: String, text: String) => key -> text }

  /** The sink of files takes its options when it is made, and shows them nowhere. */
  private[doors] def fileSink(sink: AnyRef): Map[String, String] =
    if (sink.getClass.getSimpleName != "FileStreamSink") Map.empty
    else Reflect.get(sink, "options").asInstanceOf[Map[String, String]]
}
