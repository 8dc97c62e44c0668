package io.sparkconfig.bindings.sources

import scala.collection.JavaConverters._

import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.connector.catalog.{CatalogPlugin, Table, TableCatalog}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.execution.datasources.{DataSource, FileFormat, HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.streaming.Sink
import org.apache.spark.sql.sparkconfig.{CatalogHook, Sessions, SqlAccess}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** The options that relations of a resolved plan carry: references while it is held, values when it starts. */
private[sparkconfig] object StreamRelations {

  /** Moved from `execution.streaming` to `execution.streaming.runtime` in 4.1. */
  private val StreamingRelation = "StreamingRelation"
  private val FileStreamSink = "FileStreamSink"

  private val Works = "A V1 sink is made before there is a plan: format(\"sparkconfig\") with " +
    "option(\"sparkconfig.format\", ...) gives it values, and so does a write in foreachBatch."

  /** Puts the references back that were resolved in order to load. */
  def asWritten(plan: LogicalPlan, written: CaseInsensitiveMap[String]): LogicalPlan = {
    val restore: PartialFunction[Any, Any] = {
      case options: CaseInsensitiveStringMap =>
        new CaseInsensitiveStringMap(Options.asWritten(options.asCaseSensitiveMap, written).asJava)
      case source: DataSource =>
        Sources.withOptions(source, Options.asWritten(source.options.asJava, written))
    }
    plan.transformDown {
      case relation: DataSourceV2Relation => Sources.edit(relation)(restore)
      case logical: LogicalRelation if Sources.isOfFiles(logical.relation) =>
        Sources.edit(logical) { case files: HadoopFsRelation =>
          val options = CaseInsensitiveMap(Options.asWritten(files.options.asJava, written))
          files.copy(options = options)(files.sparkSession)
        }
      case relation: StreamingRelationV2 => Sources.edit(relation)(restore)
      case relation if relation.getClass.getSimpleName == StreamingRelation => Sources.edit(relation)(restore)
    }
  }

  /** The sources of a query that starts: resolved once for each start. */
  def starting(session: Sessions.Spark, plan: LogicalPlan): LogicalPlan = plan.transformDown {
    case relation: StreamingRelationV2 =>
      val current = inNewestCatalog(session, relation)
      if (Options.hold(current.extraOptions)) starting(current) else current
    case relation if relation.getClass.getSimpleName == StreamingRelation =>
      val source = relation.productIterator.collectFirst { case found: DataSource => found }
      if (!source.exists(found => Options.hold(found.options))) relation
      else Sources.edit(relation) { case source: DataSource =>
        Sources.withOptions(source, Options.values(source.className, source.options))
      }
  }

  /** V1 sinks take their options when they are made, before there is a plan: that of files is made again. */
  def starting(session: Sessions.Spark, sink: Table): Table =
    // Moved from `execution.streaming` to `execution.streaming.sinks` in 4.1.
    if (sink.getClass.getSimpleName != FileStreamSink) {
      // What Spark's own sinks hold is the user's function, which may know references.
      if (sink.isInstanceOf[Sink] && !sink.getClass.getName.startsWith("org.apache.spark."))
        HeldTexts.refuse(sink, Works)
      sink
    } else {
      val options = Reflect.get(sink, "options").asInstanceOf[Map[String, String]]
      if (!Options.hold(options)) sink
      else {
        val format = Reflect.get(sink, "fileFormat").asInstanceOf[FileFormat]
        val arguments = Seq[AnyRef](
          Sessions.classic(session),
          Reflect.get(sink, "path"),
          format,
          Reflect.get(sink, "partitionColumnNames"),
          Options.values(format.toString, options))
        sink.getClass.getConstructors.head.newInstance(arguments: _*).asInstanceOf[Table with Sink]
      }
    }

  /** A frame may be older than the catalog of its table by now: the table is looked up again. */
  private def inNewestCatalog(session: Sessions.Spark, relation: StreamingRelationV2): StreamingRelationV2 = {
    val found =
      for {
        catalog <- relation.catalog
        identifier <- relation.identifier
        newest <- CatalogHook.successor(session, catalog)
      } yield Sources.edit(relation) {
        case _: Table => newest.asInstanceOf[TableCatalog].loadTable(identifier)
        case Some(_: CatalogPlugin) => Some(newest)
      }.asInstanceOf[StreamingRelationV2]
    found.getOrElse(relation)
  }

  private def starting(relation: StreamingRelationV2): LogicalPlan = {
    val values = Options.values(relation.sourceName, relation.extraOptions)
    val table = relation.source match {
      case Some(provider) => SqlAccess.table(provider, values, relation.table.schema())
      case None => relation.table
    }
    Sources.edit(relation) {
      case _: CaseInsensitiveStringMap => values
      case _: Table => table
    }
  }

}
