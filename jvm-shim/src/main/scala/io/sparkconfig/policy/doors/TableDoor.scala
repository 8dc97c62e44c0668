package io.sparkconfig.policy.doors

import com.fasterxml.jackson.databind.node.ObjectNode
import io.sparkconfig.core.Json
import io.sparkconfig.policy.PolicyClient
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.analysis.ResolvedIdentifier
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, TableSpec, V2CreateTablePlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.connector.catalog.Identifier
import org.apache.spark.sql.connector.expressions.{Literal, Transform}
import org.apache.spark.sql.execution.command.{CreateDataSourceTableAsSelectCommand, CreateTableLikeCommand}
import org.apache.spark.sql.sparkconfig.Sessions
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{SaveMode, SparkSessionExtensions}

/** Post-hoc resolution: new tables, before they are made (KIP-108's policy). */
private final class TableRule(session: Sessions.Spark) extends Rule[LogicalPlan] {
  import TableDoor._

  override def apply(plan: LogicalPlan): LogicalPlan = {
    PolicyClient.running.filter(_.evaluatesTables).foreach { policies =>
      OptionsDoor.fresh(plan)(node => question(node).foreach(policies.table))
    }
    plan
  }

  private def question(node: LogicalPlan): Option[ObjectNode] = node match {
    case append: CreateDataSourceTableAsSelectCommand
        if append.mode == SaveMode.Append && Sessions.catalog(session).tableExists(append.table.identifier) => None
    case like: CreateTableLikeCommand =>
      val asked = asking(name(like.targetTable), "create", like.provider)
      like.fileFormat.locationUri.foreach(uri => asked.put("location", uri.toString))
      Json.putMap(asked, "options", like.fileFormat.properties)
      Some(Json.putMap(asked, "properties", like.properties))
    case made: V2CreateTablePlan =>
      for {
        spec <- made.productIterator.collectFirst { case spec: TableSpec => spec }
        where <- made.productIterator.collectFirst { case where: ResolvedIdentifier => where }
      } yield v2(made, spec, where)
    case made if made.getClass.getSimpleName.startsWith("Create") =>
      made.productIterator.collectFirst { case table: CatalogTable => v1(made, table) }
    case _ => None
  }

  private def v1(node: LogicalPlan, table: CatalogTable): ObjectNode = {
    val asked = asking(name(table.identifier), statement(node, replaces = false), table.provider)
    columns(asked, table.schema)
    val partitions = asked.putArray("partitioning")
    table.partitionColumnNames.foreach(partitions.add(_))
    table.bucketSpec.foreach(buckets => asked.put("buckets", buckets.numBuckets))
    table.storage.locationUri.foreach(uri => asked.put("location", uri.toString))
    table.comment.foreach(asked.put("comment", _))
    Json.putMap(asked, "options", table.storage.properties)
    Json.putMap(asked, "properties", table.properties)
  }

  private def v2(plan: V2CreateTablePlan, spec: TableSpec, where: ResolvedIdentifier): ObjectNode = {
    val names = where.catalog.name +: parts(where.identifier)
    val replaces = plan.getClass.getSimpleName.startsWith("Replace")
    val asked = asking(names.mkString("."), statement(plan, replaces), spec.provider)
    columns(asked, plan.tableSchema)
    val partitions = asked.putArray("partitioning")
    plan.partitioning.foreach {
      case Buckets(number) => asked.put("buckets", number)
      case transform if transform.name == "identity" => partitions.add(transform.references.map(_.describe).mkString)
      case transform => partitions.add(transform.describe)
    }
    spec.location.foreach(asked.put("location", _))
    spec.comment.foreach(asked.put("comment", _))
    Json.putMap(asked, "options", spec.options)
    Json.putMap(asked, "properties", spec.properties)
  }

  /** A statement in SQL has its text; what has none comes from `saveAsTable` or `writeTo`. */
  private def statement(node: LogicalPlan, replaces: Boolean): String = {
    val selects = node.getClass.getSimpleName.contains("AsSelect")
    if (selects && node.origin.sqlText.isEmpty) "saveAsTable"
    else if (replaces) "replace"
    else if (selects) "ctas"
    else "create"
  }

  private def name(table: TableIdentifier): String = {
    val known = Sessions.catalog(session).qualifyIdentifier(table)
    (Seq("spark_catalog") ++ known.database :+ known.table).mkString(".")
  }
}

/** New tables. */
private[doors] object TableDoor extends Door {
  override def name: String = "new tables"

  override def asks: Seq[Asked] = Seq(
    Asked("new tables (`spark.config.create.table.policy`)", "before they run", "the same", "before they run"))

  override def open(session: SparkSessionExtensions): Unit =
    session.injectPostHocResolutionRule(new TableRule(_))

  def asking(name: String, statement: String, provider: Option[String]): ObjectNode = {
    val asked = Json.obj()
    asked.put("name", name)
    asked.put("statement", statement)
    provider.foreach(asked.put("provider", _))
    asked
  }

  def columns(asked: ObjectNode, schema: StructType): Unit =
    Json.putMap(asked, "columns", schema.fields.toSeq.map(field => field.name -> field.dataType.simpleString))

  def parts(identifier: Identifier): Seq[String] = identifier.namespace.toSeq :+ identifier.name

  object Buckets {
    def unapply(transform: Transform): Option[Int] =
      if (!transform.name.endsWith("bucket")) None
      else transform.arguments.collectFirst {
        case literal: Literal[_] if literal.value.isInstanceOf[Int] => literal.value.asInstanceOf[Int]
      }
  }
}
