package io.sparkconfig.bindings.sources

import io.sparkconfig.core.{Binding, Bound, SparkConfigException}
import org.apache.spark.sql.execution.command.RunnableCommand
import org.apache.spark.sql.execution.streaming.Sink
import org.apache.spark.sql.sources._
import org.apache.spark.sql.sparkconfig.{OptionReferenceException, Sessions}
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{DataFrame, SQLContext, SaveMode}

/**
 * The format `sparkconfig`, which hands another format its options with values:
 * `format("sparkconfig").option("sparkconfig.format", "jdbc")`. For the places where Spark passes options to a
 * source before there is a plan that a rule could change: sinks of V1 streams, and sources that connect when a write
 * asks for their table.
 */
class WrapperSource
  extends RelationProvider with SchemaRelationProvider with CreatableRelationProvider with StreamSinkProvider
  with DataSourceRegister {
  import WrapperSource._

  override def shortName(): String = Name

  override def createRelation(context: SQLContext, options: Map[String, String]): BaseRelation =
    refuse(options)

  override def createRelation(context: SQLContext, options: Map[String, String], schema: StructType): BaseRelation =
    refuse(options)

  override def createRelation(
      context: SQLContext,
      mode: SaveMode,
      options: Map[String, String],
      data: DataFrame): BaseRelation = {
    val session = context.sparkSession
    val inner = format(options)
    if (Sources.isV2(inner, Sessions.classic(session).sessionState.conf)) {
      data.write.format(inner).options(Options.values(inner, rest(options), Connections.Write)).mode(mode).save()
    } else {
      val source = Sources.dataSource(session, inner, resolved(session, inner, options, Connections.Write))
      source.planForWriting(mode, data.queryExecution.analyzed) match {
        case command: RunnableCommand => command.run(session)
        case other => Sessions.run(session, other)
      }
    }
    new BaseRelation {
      override def sqlContext: SQLContext = context
      override def schema: StructType = data.schema
    }
  }

  override def createSink(
      context: SQLContext,
      options: Map[String, String],
      columns: Seq[String],
      mode: OutputMode): Sink = {
    val inner = format(options)
    Sources.sink(
      Sources.dataSource(
        context.sparkSession,
        inner,
        Options.values(inner, rest(options), Connections.Write),
        partitionColumns = columns),
      mode,
      new StructType())
  }

  private def refuse(options: Map[String, String]): Nothing = throw new OptionReferenceException(
    s"The format '$Name' only writes. What works on all Sparks is CREATE TEMPORARY VIEW name USING " +
      s"${format(options)} OPTIONS (...), with the options as they are.")

  private def resolved(
      session: Sessions.Spark,
      inner: String,
      options: Map[String, String],
      access: String): Map[String, String] =
    Sources.options(inner, rest(options), Sessions.classic(session).sessionState.conf, access)
}

private[bindings] object WrapperSource extends Binding {
  val Name = "sparkconfig"
  val Format = "sparkconfig.format"

  override def name: String = "the format sparkconfig"

  override def binds: Seq[Bound] =
    Seq(Bound("V1 sinks of streams other than files", "wrapper format [1]", "wrapper format [1]"))

  def format(options: Map[String, String]): String =
    options.collectFirst { case (key, format) if key.equalsIgnoreCase(Format) => format }.getOrElse(
      throw new SparkConfigException(
        s"""The format '$Name' needs the option '$Format': the format that gets the other options with values."""))

  def rest(options: Map[String, String]): Map[String, String] =
    options.filterNot { case (key, _) => key.equalsIgnoreCase(Format) }
}
