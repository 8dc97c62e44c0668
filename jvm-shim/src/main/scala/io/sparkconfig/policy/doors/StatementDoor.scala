package io.sparkconfig.policy.doors

import scala.util.Try

import io.sparkconfig.policy.StatementItem.{Read, Write, statement}
import io.sparkconfig.policy.{PolicyClient, StatementItem}
import org.apache.hadoop.conf.Configuration
import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2Relation, FileTable}
import org.apache.spark.sql.execution.datasources.{
  FileIndex,
  HadoopFsRelation,
  InsertIntoHadoopFsRelationCommand,
  LogicalRelation
}
import org.apache.spark.sql.sparkconfig.{ParserHook, Sessions, SqlVariables}

/** Statements as they were parsed, before Spark evaluates or opens anything. */
private final class StatementRule(session: Sessions.Spark) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = {
    StatementDoor.asked.foreach { policies =>
      val walk = new StatementWalk(StatementDoor.conf(session), isDirect)
      walk.plan(plan)
      policies.statement(walk.items)
      policies.statement(SinkLogs.items(walk.items, StatementDoor.conf(session)))
    }
    plan
  }

  /** As Spark does it: a table of that name comes first. */
  private def isDirect(parts: Seq[String]): Boolean = parts match {
    case Seq(source, path) =>
      val isTable = !path.contains("/") && Try(
        Sessions.catalog(session).tableExists(TableIdentifier(path, Some(source)))).getOrElse(false)
      !isTable && SourceNames.exists(source)
    case _ => false
  }
}

/** The files that a statement is about to read or write, after globs and links. */
private final class FilesRule(session: Sessions.Spark) extends Rule[LogicalPlan] {
  import FilesRule._

  override def apply(plan: LogicalPlan): LogicalPlan = {
    StatementDoor.asked.foreach { policies =>
      val walk = new StatementWalk(StatementDoor.conf(session), _ => false)
      OptionsDoor.fresh(plan) {
        case relation: LogicalRelation =>
          relation.relation match {
            case files: HadoopFsRelation =>
              // A table was judged when it was made; what a log in its folder names was not.
              if (relation.catalogTable.isEmpty)
                files.location.rootPaths.foreach(path => walk.path(path.toString, Read))
              listed(files.location).foreach(walk.path(_, Read))
            case _ => ()
          }
        case relation: DataSourceV2Relation if relation.identifier.isEmpty =>
          relation.table match {
            case files: FileTable => listed(files.fileIndex).foreach(walk.path(_, Read))
            case _ => ()
          }
          Try(Reflect.get(relation.table, "paths")).toOption.foreach {
            case paths: Seq[_] => paths.foreach(path => walk.path(path.toString, Read))
            case _ => ()
          }
        case write: InsertIntoHadoopFsRelationCommand
            if write.catalogTable.isEmpty && !SparkInternalConfs.isMakingTable =>
          walk.path(write.outputPath.toString, Write)
        case _ => ()
      }
      policies.statement(walk.items)
    }
    plan
  }
}

private object FilesRule {

  /** A log of a streaming sink in a folder says which files are read: they may lie anywhere. */
  private val Logs = Set("MetadataLogFileIndex")

  /** The files of an index that does not list the folders that it was made for. */
  def listed(index: FileIndex): Seq[String] =
    if (Logs(index.getClass.getSimpleName)) index.inputFiles.toSeq else Nil
}

/** Which statements run, and what they name: rules about statements, functions, paths and data sources. */
private[sparkconfig] object StatementDoor extends Door {
  override def name: String = "statements"

  override def asks: Seq[Asked] = Seq(
    Asked(
      "statements, and the functions, paths and data sources that they name",
      "before they are analysed",
      "the same",
      "SQL: before it is analysed"),
    Asked(
      "`${env:…}` and `${system:…}` in SQL text",
      "before the text is parsed",
      "the same",
      "before the text is parsed"))

  override def open(session: SparkSessionExtensions): Unit = {
    FirstRules.injectParsed(session)(new StatementRule(_))
    FirstRules.inject(session)(new StatementRule(_))
    session.injectPostHocResolutionRule(new FilesRule(_))
    session.injectResolutionRule(_ => ColumnDefaultOfTargetRule)
    session.injectPostHocResolutionRule(_ => ColumnDefaultRule)
    session.injectParser((_, parser) => ParserHook.texts(parser, ParserRefusal.of[String](checkText)))
  }

  /** The policies, if any rule is about statements. */
  def asked: Option[PolicyClient] = PolicyClient.running.filter(_.evaluatesStatements)

  def conf(session: Sessions.Spark): Configuration = {
    val spark = Sessions.classic(session)
    val own = Option(spark.sessionState.conf.getConfString("fs.defaultFS", null))
    own.fold(spark.sparkContext.hadoopConfiguration) { text =>
      val conf = new Configuration(spark.sparkContext.hadoopConfiguration)
      conf.set("fs.defaultFS", text)
      conf
    }
  }

  private def checkText(text: String): Unit = asked.foreach { policies =>
    policies.statement(SqlVariables.ofServer(text).map(name => statement("variable", name)))
  }
}
