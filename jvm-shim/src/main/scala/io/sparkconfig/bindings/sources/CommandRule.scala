package io.sparkconfig.bindings.sources

import java.net.URLDecoder

import io.sparkconfig.core.{Expression, NamedConnections}
import org.apache.spark.sql.catalyst.analysis.ResolvedIdentifier
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, Command, LogicalPlan, TableSpec, Union, WithCTE}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.command.{CreateDataSourceTableAsSelectCommand, CreateDataSourceTableCommand}
import org.apache.spark.sql.execution.datasources.jdbc.JdbcRelationProvider
import org.apache.spark.sql.execution.datasources.{
  CreateTempViewUsing,
  InsertIntoDataSourceCommand,
  InsertIntoHadoopFsRelationCommand,
  SaveIntoDataSourceCommand
}
import org.apache.spark.sql.sparkconfig.{OptionReferenceException, Sessions}

/**
 * Post-hoc resolution: commands of V1 sources and files whose options hold references get values when they run.
 * It stands here since Spark's own post-hoc rules make the last of these commands (`DataSourceAnalysis`).
 */
private[sparkconfig] final class CommandRule(session: Sessions.Spark) extends Rule[LogicalPlan] {
  private val ofOthers = new TablesOfOthers(session)

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!isCommand(plan)) plan
    else {
      ofOthers.refuse(plan)
      AnalysisHelper.allowInvokingTransformsInAnalyzer(resolving(plan))
    }

  private def resolving(plan: LogicalPlan): LogicalPlan =
    plan.transformDown {
      case write: ResolvingFileWrite => write
      case write: InsertIntoHadoopFsRelationCommand if Options.hold(write.options) =>
        ResolvingFileWrite(write, write.query)
      case save: SaveIntoDataSourceCommand if Options.hold(save.options) => resolving(save)
      case create: CreateDataSourceTableCommand if holds(create.table) =>
        if (needsValues(create.table)) ResolvingCreateTable(create) else create
      case create: CreateDataSourceTableAsSelectCommand if holds(create.table) =>
        // Files are written through a command of their own, which comes by here again.
        if (Sources.isFile(create.table.provider.get, conf)) create else ResolvingCreateTableAsSelect(create)
      case view: CreateTempViewUsing if Options.hold(view.options) => ResolvingCreateView(view)
      case insert: InsertIntoDataSourceCommand => Connections.inserting(insert)
      case create if create.productIterator.exists(_.isInstanceOf[TableSpec]) =>
        refuseV2InSessionCatalog(create)
        create
    }

  /** Commands stand at the root, apart from their common table expressions and from inserts into several tables. */
  private def isCommand(plan: LogicalPlan): Boolean = plan match {
    case _: Command | _: WithCTE => true
    case inserts: Union => inserts.children.exists(_.isInstanceOf[Command])
    case _ => false
  }

  private def resolving(save: SaveIntoDataSourceCommand): LogicalPlan = save.dataSource match {
    case _: ResolvingProvider => save
    case jdbc: JdbcRelationProvider =>
      save.copy(dataSource = new ResolvingProvider(jdbc, JdbcOptions.forSpark("jdbc", _, Connections.Write)))
    case other =>
      val name = other match {
        case registered: org.apache.spark.sql.sources.DataSourceRegister => registered.shortName()
        case unnamed => unnamed.getClass.getName
      }
      save.copy(dataSource = new ResolvingProvider(other, Options.forWrite(name, _)))
  }

  /** Spark's session catalog hands a V2 provider's options to it at each look at the table, with no rule between. */
  private def refuseV2InSessionCatalog(create: LogicalPlan): Unit = for {
    spec <- create.productIterator.collectFirst { case found: TableSpec => found }
    name <- create.productIterator.collectFirst { case found: ResolvedIdentifier => found }
    if name.catalog.name == "spark_catalog"
    (key, text) <- (spec.options ++ spec.properties).find { case (key, value) =>
      Expression.mayHold(value) || NamedConnections.isKey(key)
    }
    what = if (NamedConnections.isKey(key)) "connection" else "reference"
  } throw new OptionReferenceException(
    s"The option '$key' of table ${name.identifier} holds the $what $text, but tables of the data source " +
      s"'${spec.provider.getOrElse("")}' cannot hold references or connections in Spark's session catalog, which " +
      "would hand the text itself to the source. Use CREATE TEMPORARY VIEW, or set the option where the data is read " +
      "and written: read.option(...).load(), SELECT ... WITH (...).")

  private def holds(table: CatalogTable): Boolean = {
    table.storage.locationUri.map(uri => URLDecoder.decode(uri.toString, "UTF-8")).filter(Expression.mayHold)
      .foreach { location =>
        throw new OptionReferenceException(
          s"The location of table ${table.identifier.unquotedString} holds a reference ($location), which the " +
            "catalog could not keep. Write the location itself, or load the path without a table.")
      }
    Options.hold(table.storage.properties)
  }

  /** JDBC tables mostly do without: their connections find the values. */
  private def needsValues(table: CatalogTable): Boolean =
    !JdbcOptions.isJdbc(table.provider.get, conf) ||
      (JdbcOptions.forSpark("jdbc", table.storage.properties) ne table.storage.properties)
}
