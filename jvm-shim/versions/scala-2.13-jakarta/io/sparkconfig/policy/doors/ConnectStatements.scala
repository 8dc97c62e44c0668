package io.sparkconfig.policy.doors

import scala.collection.JavaConverters._
import scala.collection.mutable
import scala.util.Try
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode
import com.github.luben.zstd.ZstdInputStream
import io.sparkconfig.core.Json
import io.sparkconfig.policy.StatementItem.{Write, statement}
import io.sparkconfig.policy.{CanonicalPath, Requester, StatementItem, Verdict}
import org.apache.hadoop.conf.Configuration
import org.apache.spark.SparkContext
import org.apache.spark.connect.proto.{Command, Relation}
import org.sparkproject.connect.protobuf.Descriptors.FieldDescriptor
import org.sparkproject.connect.protobuf.Descriptors.FieldDescriptor.JavaType
import org.sparkproject.connect.protobuf.{ByteString, Message}

/**
 * What a Connect client sends, before the server reads it: the planner would load the classes of functions and start
 * Python before there is a plan. Messages are read by their names, which stay the same between versions.
 */
private[sparkconfig] object ConnectStatements {
  private val Package = "spark.connect."

  /** Messages that bring code, or have the server do something that no plan shows. */
  private val Kinds = Map(
    "PythonUDF" -> "python-udf",
    "PythonUDTF" -> "python-udtf",
    "PythonDataSource" -> "python-data-source",
    "ScalarScalaUDF" -> "scala-udf",
    "JavaUDF" -> "java-udf",
    "TypedAggregateExpression" -> "scala-udf",
    "StreamingForeachFunction" -> "streaming-function",
    "DataType.UDT" -> "udt",
    "MlCommand" -> "ml",
    "MlRelation" -> "ml",
    "PipelineCommand" -> "pipeline",
    "ExecuteExternalCommand" -> "external-command",
    "CreateResourceProfileCommand" -> "resource-profile",
    "CheckpointCommand" -> "checkpoint",
    "StreamingQueryListenerBusCommand" -> "streaming-listener",
    // A listener that runs in the server: bytes of Java's or Python's, which the server would deserialize.
    "StreamingQueryManagerCommand.StreamingQueryListenerCommand" -> "streaming-listener-code",
    "WriteStreamOperationStart" -> "stream",
    "WriteOperation" -> "write",
    "WriteOperationV2" -> "write",
    "CreateDataFrameViewCommand" -> "create-view",
    "MergeIntoTableCommand" -> "merge-into-table").map { case (name, kind) => (Package + name) -> kind }

  /** What a client of this version may send besides: what is not known here is asked about. */
  private val Known = Map(
    "Relation" -> ("common read project filter join set_op sort limit aggregate sql local_relation sample offset " +
      "deduplicate range subquery_alias repartition to_df with_columns_renamed show_string drop tail with_columns " +
      "hint unpivot to_schema repartition_by_expression map_partitions collect_metrics parse group_map co_group_map " +
      "with_watermark apply_in_pandas_with_state html_string cached_local_relation cached_remote_relation " +
      "common_inline_user_defined_table_function as_of_join common_inline_user_defined_data_source with_relations " +
      "transpose unresolved_table_valued_function lateral_join chunked_cached_local_relation relation_changes " +
      "nearest_by_join zip fill_na drop_na replace summary crosstab describe cov corr approx_quantile freq_items " +
      "sample_by catalog ml_relation extension"),
    "Command" -> ("register_function write_operation create_dataframe_view write_operation_v2 sql_command " +
      "write_stream_operation_start streaming_query_command get_resources_command streaming_query_manager_command " +
      "register_table_function streaming_query_listener_bus_command register_data_source " +
      "create_resource_profile_command checkpoint_command remove_cached_remote_relation_command " +
      "merge_into_table_command ml_command execute_external_command pipeline_command extension"),
    "Expression" -> ("common literal unresolved_attribute unresolved_function expression_string unresolved_star " +
      "alias cast unresolved_regex sort_order lambda_function window unresolved_extract_value update_fields " +
      "unresolved_named_lambda_variable common_inline_user_defined_function call_function named_argument_expression " +
      "merge_action typed_aggregate_expression subquery_expression direct_shuffle_partition_id extension"))
    .map { case (name, fields) => (Package + name) -> fields.split(' ').toSet }

  /** Bytes that are rows, a literal, or a plan that is read below. All others are code, or may be. */
  private val Data = Set(
    "LocalRelation.data",
    "Expression.Literal.binary",
    "Plan.CompressedOperation.data",
    "AddArtifactsRequest.ArtifactChunk.data").map(Package + _)

  /** Messages with no text of interest below: rows, and what the client says of itself. */
  private val Leaves = Set("UserContext", "RelationCommon", "ExpressionCommon").map(Package + _)

  private val MostBytes = 256L << 20

  /** Why a message of a client is refused, if it is. */
  def problem(message: Any): Option[String] = message match {
    case request: Message => StatementDoor.asked.flatMap { policies =>
        val verdict =
          try policies.statement(items(request), who(request))
          catch {
            case NonFatal(e) =>
              Verdict(allowed = false, s"the policies cannot read this request: ${e.getClass.getSimpleName}", Nil)
          }
        if (verdict.allowed) None else Some(verdict.message)
      }
    case _ => None
  }

  private def who(request: Message): Requester = {
    val user = field(request, "user_context").map(request.getField(_)).collect { case context: Message => context }
    Requester(user.flatMap(text(_, "user_id")).mkString, text(request, "session_id").mkString, Requester.Connect)
  }

  private def items(request: Message): Set[StatementItem] = {
    val found = mutable.LinkedHashSet.empty[StatementItem]
    val waiting = mutable.Stack[Message](request)
    while (waiting.nonEmpty) {
      val message = waiting.pop()
      val name = message.getDescriptorForType.getFullName
      if (!Leaves(name)) {
        found ++= of(message, name)
        message.getAllFields.forEach { (field, value) =>
          if (Known.get(name).exists(!_.contains(field.getName))) found += statement(s"connect-${kebab(field.getName)}")
          if (field.getJavaType == JavaType.BYTE_STRING && !Data(field.getFullName) && !Kinds.contains(name))
            found += statement(s"connect-bytes-${kebab(field.getName)}")
          if (field.getJavaType == JavaType.MESSAGE) value match {
            case all: java.util.List[_] => all.forEach(each => waiting.push(each.asInstanceOf[Message]))
            case one => waiting.push(one.asInstanceOf[Message])
          }
        }
        if (name == Package + "Plan.CompressedOperation") waiting.push(decompressed(message))
      }
    }
    found.toSet
  }

  private def of(message: Message, name: String): Seq[StatementItem] = name.stripPrefix(Package) match {
    case "AddArtifactsRequest.SingleChunkArtifact" | "AddArtifactsRequest.BeginChunkedArtifact" =>
      artifact(text(message, "name").mkString)
    case "JavaUDF" =>
      val kind = text(message, "class_name").mkString
      Seq(statement("java-udf", kind), StatementItem("function", kind))
    case "WriteOperation" | "WriteOperationV2" | "WriteStreamOperationStart" =>
      statement(Kinds(name)) +: writes(message)
    case "Catalog" =>
      message.getAllFields.asScala.keys.map(field => statement(s"catalog-${kebab(field.getName)}")).toSeq
    // The planner makes the relation by itself, before any rule sees its options.
    case "Read.DataSource" if field(message, "predicates").exists(message.getRepeatedFieldCount(_) > 0) =>
      statement("jdbc-predicates") +: schema(message)
    case "RefreshByPath" => text(message, "path").map(path(_, "read")).toSeq
    case "MlCommand.Write" | "MlCommand.Read" => text(message, "path").map(path(_, Write)).toSeq
    case _ if name == "google.protobuf.Any" => Seq(statement("connect-extension"))
    case _ => Kinds.get(name).map(statement(_)).toSeq ++ schema(message)
  }

  /** Rows of a DataFrame are sent ahead under `cache/`; everything else is code, or a file for code. */
  private def artifact(name: String): Seq[StatementItem] =
    Seq(if (name.matches("cache/[0-9A-Za-z]+")) statement("cache-data") else statement("add-artifact", name))

  private def writes(message: Message): Seq[StatementItem] = {
    val walk = new StatementWalk(hadoop, _ => false)
    Seq("source", "format", "provider").flatMap(text(message, _)).filter(_.nonEmpty).foreach(walk.source(_, Write))
    text(message, "path").filter(_.nonEmpty).foreach(walk.path(_, Write))
    walk.options(map(message, "options") ++ map(message, "table_properties"), Write)
    walk.items.toSeq
  }

  /** Types as JSON may name classes, and hold SQL as default values. */
  private def schema(message: Message): Seq[StatementItem] = {
    val texts = message.getAllFields.asScala.toSeq.flatMap {
      case (_, text: String) => Seq(text)
      case (_, all: java.util.List[_]) => all.asScala.collect { case text: String => text }
      case _ => Nil
    }
    val udt = texts.exists { text =>
      (text.contains("\"type\"") || text.contains("\\u")) &&
      Try(Json.parse(text)).toOption.fold(text.contains("udt") || text.contains("\\u"))(holdsUdt)
    }
    Seq("udt").filter(_ => udt).map(statement(_)) ++
      Seq(ColumnDefaults.Refused).filter(_ => texts.exists(ColumnDefaults.inJson)).map(statement(_))
  }

  /** Jackson's own search does not look inside of what it finds: a column's type is an object. */
  private def holdsUdt(node: JsonNode): Boolean =
    node.path("type").asText == "udt" || node.elements.asScala.exists(holdsUdt)

  private def path(text: String, access: String): StatementItem =
    StatementItem("path", CanonicalPath.of(text, hadoop), access)

  private def hadoop: Configuration = SparkContext.getOrCreate().hadoopConfiguration

  private def decompressed(message: Message): Message = {
    val data = value(message, "data").asInstanceOf[ByteString]
    val stream = new ZstdInputStream(data.newInput())
    val bytes =
      try stream.readNBytes(MostBytes.toInt)
      finally stream.close()
    if (bytes.length >= MostBytes) throw new IllegalArgumentException("the plan is too large")
    if (value(message, "op_type").toString.endsWith("RELATION")) Relation.parseFrom(bytes) else Command.parseFrom(bytes)
  }

  private def value(message: Message, name: String): AnyRef = message.getField(field(message, name).get)

  private def text(message: Message, name: String): Option[String] =
    field(message, name).map(message.getField(_)).collect { case text: String => text }

  private def field(message: Message, name: String): Option[FieldDescriptor] =
    Option(message.getDescriptorForType.findFieldByName(name))

  private def map(message: Message, name: String): Map[String, String] = field(message, name).toSeq.flatMap { entries =>
    message.getField(entries).asInstanceOf[java.util.List[Message]].asScala.map { entry =>
      value(entry, "key").toString -> value(entry, "value").toString
    }
  }.toMap

  private def kebab(name: String): String = name.replace('_', '-')
}
