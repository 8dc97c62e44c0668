package io.sparkconfig.policy.doors

import java.util.Locale
import java.util.concurrent.ConcurrentHashMap

import io.sparkconfig.policy.StatementItem.{Read, Write}
import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.sql.catalyst.plans.logical.{Command, LogicalPlan, ParsedStatement}

/** What rules call a statement: the name of its plan, `DropTable` as `drop-table`. Queries have none. */
private[doors] object Kinds {
  private val known = new ConcurrentHashMap[Class[_], Option[String]]()

  private val Named = Map(
    "AddJarsCommand" -> "add-jar",
    "AddFilesCommand" -> "add-file",
    "AddArchivesCommand" -> "add-archive",
    "ScriptTransformation" -> "transform",
    "InsertIntoDir" -> "insert-directory",
    "InsertIntoStatement" -> "insert",
    "UnresolvedInsert" -> "insert",
    "CreateUserDefinedFunction" -> "create-sql-function",
    "CreateSQLFunctionCommand" -> "create-sql-function",
    "AppendData" -> "write",
    "OverwriteByExpression" -> "write",
    "OverwritePartitionsDynamic" -> "write",
    "SaveIntoDataSourceCommand" -> "write",
    "SaveAsV1TableCommand" -> "write",
    "InsertIntoHadoopFsRelationCommand" -> "write",
    "InsertIntoDataSourceCommand" -> "write",
    "WriteToStreamStatement" -> "stream",
    "WriteToStream" -> "stream")

  private val Code = Map(
    "MapInPandas" -> "python-udf",
    "MapInArrow" -> "python-udf",
    "PythonMapInArrow" -> "python-udf",
    "FlatMapGroupsInPandas" -> "python-udf",
    "FlatMapGroupsInArrow" -> "python-udf",
    "FlatMapCoGroupsInPandas" -> "python-udf",
    "FlatMapCoGroupsInArrow" -> "python-udf",
    "FlatMapGroupsInPandasWithState" -> "python-udf",
    "TransformWithStateInPySpark" -> "python-udf",
    "FlatMapGroupsInR" -> "r-udf",
    "FlatMapGroupsInRWithArrow" -> "r-udf",
    "MapPartitionsInR" -> "r-udf",
    "MapPartitionsInRWithArrow" -> "r-udf")

  /** Plans that read what they name; every other one may write it, or have others write it. */
  private val Readers =
    Set(
      "UnresolvedDataSource",
      "CreateTempViewUsing",
      "LoadData",
      "LoadDataCommand",
      "RefreshResource",
      "AddJarsCommand",
      "AddFilesCommand",
      "AddArchivesCommand")

  /** What makes a table or database, or moves it: others read and write there. */
  private val Makers = Seq("Create", "Replace", "Set", "Add", "Alter", "UnresolvedPartitionSpec")

  def of(node: LogicalPlan): Option[String] = known.computeIfAbsent(node.getClass, name(_))

  private def name(kind: Class[_]): Option[String] = {
    val simple = kind.getSimpleName.stripSuffix("$")
    val isStatement = classOf[Command].isAssignableFrom(kind) || classOf[ParsedStatement].isAssignableFrom(kind)
    Named.get(simple).orElse(Code.get(simple)).orElse(
      if (isStatement) Some(kebab(simple.stripSuffix("Command").stripSuffix("Statement"))) else None)
  }

  private def kebab(name: String): String =
    name.replaceAll("([a-z0-9])([A-Z])", "$1-$2").replaceAll("([A-Z]+)([A-Z][a-z])", "$1-$2").toLowerCase(Locale.ROOT)

  /** How a plan uses the paths and sources that it names. A table's location is for both. */
  def access(node: LogicalPlan): Seq[String] = {
    val name = node.getClass.getSimpleName
    if (Readers(name)) Seq(Read)
    else if (Makers.exists(name.startsWith(_))) Seq(Read, Write)
    else Seq(Write)
  }

  /** `jar`, `file` or `archive`. */
  def resource(kind: AnyRef): String = Reflect.get(kind, "resourceType").toString.toLowerCase(Locale.ROOT)
}
