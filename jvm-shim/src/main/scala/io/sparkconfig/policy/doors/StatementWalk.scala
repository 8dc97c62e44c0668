package io.sparkconfig.policy.doors

import java.net.URI
import java.util.Locale

import scala.collection.JavaConverters._
import scala.collection.mutable
import scala.util.Try

import io.sparkconfig.core.Json
import io.sparkconfig.policy.StatementItem.{Read, Write, statement}
import io.sparkconfig.policy.{CanonicalPath, StatementItem}
import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, ScriptTransformation}
import org.apache.spark.sql.execution.datasources.InsertIntoHadoopFsRelationCommand
import org.apache.spark.sql.types.{DataType, Metadata}
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.unsafe.types.UTF8String

/**
 * Collects what one plan does and names. Plans are read by the names of their arguments, which are the same in all
 * Spark versions where the classes are not: `location` and `path` are paths, `provider` and `serde` are data sources.
 *
 * @param direct whether a table's name of two parts is a data source and a path (`` text.`/a` ``)
 */
private[doors] class StatementWalk(conf: Configuration, direct: Seq[String] => Boolean) {
  import StatementWalk._

  private val found = mutable.LinkedHashSet.empty[StatementItem]

  def items: Set[StatementItem] = found.toSet

  /** A plan, what it holds, and its subqueries; what is analysed already was looked at before. */
  def plan(node: LogicalPlan): Unit = if (!node.analyzed) {
    Kinds.of(node).foreach(kind => found += statement(kind, detail(node)))
    node match {
      case relation: UnresolvedRelation =>
        if (direct(relation.multipartIdentifier)) {
          source(relation.multipartIdentifier.head, Read)
          path(relation.multipartIdentifier.last, Read)
        }
        options(relation.options.asCaseSensitiveMap.asScala, Read)
      // FilesRule looks at its path, unless it is Spark's own for a new table.
      case write: InsertIntoHadoopFsRelationCommand => plan(write.query)
      // Its serdes are part of it.
      case _: ScriptTransformation => node.children.foreach(plan)
      case _ =>
        val arguments = Arguments.of(node)
        val local = arguments.exists { case (name, value) => name == "isLocal" && value == true }
        arguments.foreach { case (name, value) => argument(name, value, Kinds.access(node), local) }
    }
  }

  def path(text: String, access: String, local: Boolean = false): Unit =
    found += StatementItem("path", CanonicalPath.of(text, conf, local), access)

  def source(name: String, access: String): Unit = SourceNames.of(name).foreach { each =>
    found += StatementItem("source", each, access)
  }

  private def expression(tree: Expression): Unit = tree.foreach { each =>
    if (PythonCode(each.getClass.getSimpleName)) found += statement("python-udf")
    FunctionOptions.paths(each).foreach(path(_, Read))
    if (TypeTexts.mayNameClass(each)) found += statement("udt")
    if (isOpenDefault(each)) found += statement(ColumnDefaults.Refused)
    each.productIterator.foreach(nested)
  }

  private def isOpenDefault(each: Expression): Boolean = each match {
    case Literal(text: UTF8String, _) => ColumnDefaults.inJson(text.toString)
    // DEFAULT of a column, and DEFAULT of a variable, which is an ordinary expression.
    case other if DefaultOfColumn(other.getClass.getSimpleName) => !other.children.forall(ColumnDefaults.isConstant)
    case other => other.productIterator.exists {
        case kind: DataType => ColumnDefaults.isOpen(kind)
        case _ => false
      }
  }

  /** Plans in expressions: subqueries. */
  private def nested(value: Any): Unit = value match {
    case inner: LogicalPlan => plan(inner)
    case Some(inner: LogicalPlan) => plan(inner)
    case _ => ()
  }

  private def argument(name: String, value: Any, access: Seq[String], local: Boolean): Unit = value match {
    case null | None => ()
    case inner: LogicalPlan => plan(inner)
    // Some are expressions, too.
    case inner: Product if Inner(inner.getClass.getSimpleName) =>
      Arguments.of(inner).foreach { case (below, each) => argument(below, each, access, local) }
    case tree: Expression =>
      expression(tree)
      if (Arguments.isOptions(tree)) Arguments.options(tree).foreach(map => access.foreach(options(map, _)))
    case Some(inner) => argument(name, inner, access, local)
    case map: CaseInsensitiveStringMap => access.foreach(options(map.asCaseSensitiveMap.asScala, _))
    case map: scala.collection.Map[_, _] =>
      val texts = map.toSeq.collect { case (key: String, text: String) => key -> text }
      access.foreach(options(texts.toMap, _))
      map.values.foreach {
        case inner: LogicalPlan => plan(inner)
        case tree: Expression => expression(tree)
        case _ => ()
      }
    case schema: DataType => if (ColumnDefaults.isOpen(schema)) found += statement(ColumnDefaults.Refused)
    case metadata: Metadata => if (ColumnDefaults.isOpen(metadata)) found += statement(ColumnDefaults.Refused)
    case all: Seq[_] => all.foreach(argument(name, _, access, local))
    case sql: String if DefaultTexts(name) =>
      if (sql.nonEmpty && ColumnDefaults.isOpenText(sql)) found += statement(ColumnDefaults.Refused)
    case text @ (_: String | _: URI) =>
      if (Paths(name)) access.foreach(path(text.toString, _, local))
      else if (Sources(name)) access.foreach(source(text.toString, _))
    case tuple: Product if tuple.productPrefix.startsWith("Tuple") =>
      tuple.productIterator.foreach(argument(name, _, access, local))
    case _ => ()
  }

  /** The options of a source or sink, and properties of tables, that hold paths or name classes of Hive's. */
  def options(texts: scala.collection.Map[String, String], access: String): Unit = texts.foreach { case (key, text) =>
    val each = if (isCheckpoint(key)) Write else access
    pathsIn(key, text).foreach(path(_, each))
    if (text != null && ClassKeys(key.toLowerCase(Locale.ROOT))) source(text, access)
  }

  /** What a statement names that no other item says. */
  private def detail(node: LogicalPlan): String = Arguments.of(node).collect {
    case ("paths" | "files" | "jars" | "archives", all: Seq[_]) => all.mkString(", ")
    case ("className", text: String) =>
      found += StatementItem("function", text)
      text
    case ("resources", all: Seq[_]) =>
      all.foreach { resource =>
        val parts = Arguments.of(resource.asInstanceOf[Product]).toMap
        val kind = parts.get("resourceType").map(_.asInstanceOf[AnyRef]).map(Kinds.resource).getOrElse("file")
        found += statement(s"add-$kind", parts.get("uri").mkString)
      }
      ""
  }.filter(_.nonEmpty).mkString(", ")
}

private[doors] object StatementWalk {
  private val Paths =
    Set(
      "location",
      "locationUri",
      "path",
      "paths",
      "uri",
      "outputPath",
      "checkpointLocation",
      "userSpecifiedCheckpointLocation",
      "resolvedCheckpointLocation")
  private val Sources =
    Set(
      "provider",
      "format",
      "serde",
      "serdeName",
      "serdeClassName",
      "storedAs",
      "inputFormat",
      "outputFormat",
      "input",
      "output")

  /** Arguments that are read like the plan around them. */
  private val Inner = Set(
    "UnresolvedTableSpec",
    "TableSpec",
    "SerdeInfo",
    "AlterColumnSpec",
    "ColumnDefinition",
    "QualifiedColType",
    "FormatClasses",
    "UnresolvedPartitionSpec",
    "CatalogStorageFormat")
  private val DefaultOfColumn = Set("DefaultValueExpression")

  /** Arguments that are the SQL of a column's default. */
  private val DefaultTexts = Set("setDefaultExpression", "default", "defaultValue", "newDefaultExpression")
  private val PythonCode = Set("PythonUDF", "PythonUDAF", "PythonUDTF", "UnresolvedPolymorphicPythonUDTF")
  private val PathKey = Seq(
    "path",
    "paths",
    "location",
    "file",
    "files",
    "dir",
    "directory",
    "keytab",
    "keystore",
    "truststore",
    "schemaurl",
    "schemauri")

  /** Properties by which Hive's metastore, and options by which `USING hive`, names a table's classes. */
  private val ClassKeys = Set(
    "serde",
    "inputformat",
    "outputformat",
    "serialization.lib",
    "serialization.class",
    "storage_handler",
    "file.inputformat",
    "file.outputformat")

  /** Whether an option of this name holds paths. */
  def isPath(key: String): Boolean = PathKey.exists(squeezed(key).endsWith)

  /** The paths that an option holds. */
  def pathsIn(key: String, text: String): Seq[String] =
    if (text == null || !isPath(key) || isPlain(text)) Nil
    else Try(Json.texts(Json.parse(text))).filter(_ => text.trim.startsWith("[")).getOrElse(Seq(text))

  private def isCheckpoint(key: String): Boolean = last(key) == "checkpointlocation"

  /** `avro.schema.url` and `avroSchemaUrl` are one key to this. */
  private def squeezed(key: String): String = key.toLowerCase(Locale.ROOT).filter(_.isLetterOrDigit)

  private def last(key: String): String = key.substring(key.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT)

  private def isPlain(text: String): Boolean =
    text.isEmpty || text.forall(_.isDigit) || text.equalsIgnoreCase("true") || text.equalsIgnoreCase("false")
}
