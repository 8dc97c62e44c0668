package io.sparkconfig.bindings.sources

import io.sparkconfig.core.Fingerprint
import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType, CatalogUtils}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.execution.command.{
  CreateDataSourceTableAsSelectCommand,
  CreateDataSourceTableCommand,
  LeafRunnableCommand
}
import org.apache.spark.sql.execution.datasources.{CreateTempViewUsing, HadoopFsRelation}
import org.apache.spark.sql.sources.{BaseRelation, CreatableRelationProvider}
import org.apache.spark.sql.sparkconfig.{OptionReferenceException, Sessions}
import org.apache.spark.sql.{Row, SaveMode}

/**
 * A command on tables whose source needs values while it runs; plan and catalog keep the references. Spark's own
 * commands write the options that they gave to the source into the catalog, hence these.
 */
private[sparkconfig] sealed abstract class ResolvingTableCommand extends LeafRunnableCommand {

  /** What the user wrote, for explain. */
  def command: LogicalPlan

  override def innerChildren: Seq[LogicalPlan] = Seq(command)

  protected def options(
      session: Sessions.Spark,
      table: CatalogTable,
      access: String = Connections.Read): Map[String, String] = {
    val path = table.storage.locationUri.map(location => "path" -> CatalogUtils.URIToString(location))
    val conf = Sessions.classic(session).sessionState.conf
    Sources.options(table.provider.get, table.storage.properties ++ path, conf, access)
  }

  /** Whether there is nothing to do; an existing table that is in the way is an error. */
  protected def isThere(session: Sessions.Spark, table: CatalogTable, ignore: Boolean): Boolean = {
    val exists = Sessions.catalog(session).tableExists(table.identifier)
    if (exists && !ignore) {
      throw new TableAlreadyExistsException(table.database, table.identifier.table)
    }
    exists
  }
}

private[sparkconfig] final case class ResolvingCreateTable(command: CreateDataSourceTableCommand)
  extends ResolvingTableCommand {

  override def run(session: Sessions.Spark): Seq[Row] = {
    val table = command.table
    if (!isThere(session, table, command.ignoreIfExists)) {
      val schema = Some(table.schema).filter(_.nonEmpty)
      val relation = Sources.relation(Sources.dataSource(
        session,
        table.provider.get,
        options(session, table),
        schema,
        table.partitionColumnNames,
        table.bucketSpec))
      relation match {
        // Files: with the schema known, Spark's command only looks at the location.
        case files: HadoopFsRelation if schema.isEmpty && files.overlappedPartCols.isEmpty =>
          val partitions = files.partitionSchema.fieldNames.toSeq
          command.copy(table = Sources.withSchema(table, files.schema, partitions)).run(session)
        case _: HadoopFsRelation => command.run(session)
        case other =>
          Sessions.catalog(session).createTable(
            Sources.withSchema(table, other.schema, table.partitionColumnNames),
            ignoreIfExists = false,
            validateLocation = false)
      }
    }
    Nil
  }
}

private[sparkconfig] final case class ResolvingCreateTableAsSelect(command: CreateDataSourceTableAsSelectCommand)
  extends ResolvingTableCommand {

  override def run(session: Sessions.Spark): Seq[Row] = {
    val table = command.table
    val catalog = Sessions.catalog(session)
    if (catalog.tableExists(table.identifier)) {
      command.mode match {
        case SaveMode.Append => write(session, catalog.getTableMetadata(table.identifier), SaveMode.Append)
        case mode => isThere(session, table, ignore = mode == SaveMode.Ignore)
      }
    } else {
      val location =
        if (table.tableType == CatalogTableType.MANAGED) Some(catalog.defaultTablePath(table.identifier))
        else table.storage.locationUri
      val placed = Sources.withLocation(table, location)
      val relation = write(session, placed, SaveMode.Overwrite)
      catalog.createTable(
        Sources.withSchema(placed, relation.schema, table.partitionColumnNames),
        ignoreIfExists = false,
        validateLocation = false)
    }
    Nil
  }

  private def write(session: Sessions.Spark, table: CatalogTable, mode: SaveMode): BaseRelation = {
    val data = Sessions.rows(session, command.query)
    Sources.provider(table.provider.get, Sessions.classic(session).sessionState.conf) match {
      case provider: CreatableRelationProvider =>
        provider.createRelation(session.sqlContext, mode, options(session, table, Connections.Write), data)
      case _ => throw new OptionReferenceException(
          s"The data source '${table.provider.get}' of table ${table.identifier.unquotedString} cannot be written.")
    }
  }
}

private[sparkconfig] final case class ResolvingCreateView(command: CreateTempViewUsing) extends ResolvingTableCommand {

  override def run(session: Sessions.Spark): Seq[Row] = {
    val conf = Sessions.classic(session).sessionState.conf
    val options = Sources.options(command.provider, command.options, conf)
    val rows = command.copy(options = options).run(session)
    keepTexts(session, options)
    rows
  }

  /** The view shows references where its plan shows options; what holds values is noted with what it was made of. */
  private def keepTexts(session: Sessions.Spark, options: Map[String, String]): Unit = {
    val name = command.tableIdent.table
    val catalog = Sessions.catalog(session)
    val view = if (command.global) catalog.getRawGlobalTempView(name) else catalog.getRawTempView(name)
    for { known <- view; plan <- known.plan } {
      val values = Fingerprint.of(options)
      val made = new Recipe(command.provider, command.options, command.userSpecifiedSchema, values, isView = true)
      plan.collect(Recipe.holder).foreach(Recipe.note(_, made))
      val shown = StreamRelations.asWritten(plan, CaseInsensitiveMap(command.options))
      if (!(shown eq plan)) {
        catalog.alterTempViewDefinition(known.tableMeta.identifier, known.copy(plan = Some(shown)))
      }
    }
  }
}
