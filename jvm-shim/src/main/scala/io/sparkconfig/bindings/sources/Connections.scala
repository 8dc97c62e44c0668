package io.sparkconfig.bindings.sources

import scala.collection.JavaConverters._
import scala.util.Try

import io.sparkconfig.core.{Expression, NamedConnection, NamedConnections}
import io.sparkconfig.policy.{PolicyClient, StatementItem}
import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.sql.SaveMode
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.connector.catalog.{Table, TableProvider}
import org.apache.spark.sql.execution.datasources.jdbc.{JDBCOptions, JdbcRelationProvider}
import org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTable
import org.apache.spark.sql.execution.datasources.{DataSource, InsertIntoDataSourceCommand, SaveIntoDataSourceCommand}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sources.BaseRelation
import org.apache.spark.sql.sparkconfig.OptionReferenceException

/**
 * `sparkconfig.connection` in the options of a data source: where references become values, the options of the named
 * connection join the user's. Plans and catalogs keep the name alone.
 */
private[sparkconfig] object Connections {
  val Read: String = StatementItem.Read
  val Write: String = StatementItem.Write

  /** A method of `DataFrameReader` in 3.5 whose arguments are options. */
  private val Jdbc = "jdbc"

  /**
   * The options with those of the connection that they name, references unresolved; the name stays.
   *
   * @param source the data source as the user named it
   * @param access [[Read]] or [[Write]], for the policies
   * @throws OptionReferenceException the connection does not exist or is for another source, or the user's options may
   *                                  not stand beside it
   */
  def expanded(source: String, options: Map[String, String], access: String): Map[String, String] =
    named(options, access).fold(options) { connection =>
      val format = if (source.equalsIgnoreCase(WrapperSource.Name)) WrapperSource.format(options) else source
      if (!same(format, connection.format)) refuseFormat(connection, s"the data source '$format'")
      joined(connection, options)
    }

  /** The same for a table of a V2 source, whose provider is not known any more. */
  def expanded(table: Option[Table], options: Map[String, String], access: String): Map[String, String] =
    named(options, access).fold(options) { connection =>
      if (!table.exists(isOf(_, connection.format))) refuseFormat(connection, "this table")
      joined(connection, options)
    }

  /** Options of one read or write of a table whose catalog has a connection: Spark joins them with the catalog's. */
  def requireBeside(table: Table, options: Map[String, String]): Unit = table match {
    case jdbc: JDBCTable if options.nonEmpty =>
      NamedConnections.nameIn(jdbc.jdbcOptions.parameters).flatMap(NamedConnections.find).foreach { connection =>
        if (NamedConnections.isNamed(options)) refuse(s"This table has its connection: '${connection.name}'.")
        joined(connection, options)
      }
    case _ => ()
  }

  /** Paths of a load count as the option `path`. */
  def requireNoPaths(options: Map[String, String], paths: Seq[String]): Unit = if (paths.nonEmpty) {
    NamedConnections.nameIn(options).flatMap(NamedConnections.find).foreach(joined(_, Map("path" -> paths.head)))
  }

  /** The arguments of a reader's method in 3.5, some of which are options or paths. */
  def requireNoArguments(format: String, options: Map[String, String], arguments: Seq[AnyRef]): Unit =
    if (NamedConnections.isNamed(options)) {
      val texts = arguments.collect { case path: String => Seq(path); case paths: Seq[_] => paths.map(_.toString) }
      if (format == Jdbc && texts.nonEmpty)
        refuse(s"The option '${NamedConnections.Key}' does not go with jdbc(url, ...): use format and load().")
      requireNoPaths(options, texts.flatten)
    }

  /**
   * An insert into a table or view, which may have been made for reading. A JDBC relation would write all its options
   * into the plan of a second command: such an insert becomes that command, with the name alone.
   */
  def inserting(insert: InsertIntoDataSourceCommand): LogicalPlan = {
    val relation = insert.logicalRelation
    val held = jdbcOptions(relation.relation)
    val recipes = Recipe.of(relation.relation)
    recipes.foreach(_.requireAllowed(Write))
    val made =
      relation.catalogTable.map(_.storage.properties).orElse(recipes.headOption.map(_.texts)).getOrElse(Map.empty)
    named(held.getOrElse(made), Write) match {
      case Some(_) if held.isDefined =>
        SaveIntoDataSourceCommand(
          insert.query,
          new ResolvingProvider(new JdbcRelationProvider, JdbcOptions.forSpark(Jdbc, _, Write)),
          NamedConnections.written(Options.asWritten(held.get.asJava, CaseInsensitiveMap(made))),
          if (insert.overwrite) SaveMode.Overwrite else SaveMode.Append)
      case _ => insert
    }
  }

  private def jdbcOptions(relation: BaseRelation): Option[Map[String, String]] =
    // Private to Spark.
    if (relation.getClass.getSimpleName != "JDBCRelation") None
    else Some(Reflect.get(relation, "jdbcOptions").asInstanceOf[JDBCOptions].parameters.originalMap)

  private def named(options: Map[String, String], access: String): Option[NamedConnection] =
    NamedConnections.nameIn(options).map { name =>
      val names = options.collect { case (key, each) if NamedConnections.isKey(key) => each }.toSet
      if (names.size > 1) refuse(s"The option '${NamedConnections.Key}' names two connections.")
      if (name == null || Expression.mayHold(name))
        refuse(s"The option '${NamedConnections.Key}' takes the name of a connection, not a reference.")
      // Before it is looked up: users who may not use a connection are not told whether there is one.
      PolicyClient.running.foreach(_.statement(StatementItem.connection(name, options, access)))
      NamedConnections.find(name).getOrElse(refuse(
        s"The connection '$name' does not exist. Declare it with spark.config.connections.NAME.format and " +
          ".option.KEY, in the operator's file if there is one."))
    }

  private def joined(connection: NamedConnection, options: Map[String, String]): Map[String, String] = {
    val given = options.keys.toSeq.filterNot(key => NamedConnections.isKey(key) || key.startsWith("__")).sorted
    val set = given.filter(connection.sets)
    if (set.nonEmpty)
      refuse(s"The connection '${connection.name}' sets ${listed(set)}, which cannot be overridden: " +
        "leave it out, or do not name the connection.")
    val strange = given.filterNot(connection.letsUsersSet)
    if (strange.nonEmpty)
      refuse(s"${listed(strange)} may not stand beside the connection '${connection.name}', since it could lead " +
        "elsewhere or load code. The operator can allow it in " +
        s"spark.config.connections.${connection.name}.user.options.")
    // Only these keys of the connection would be in reach of such a text (KIP-269).
    val leading = given.filter { key =>
      options(key) != null && options(key).contains("$[") &&
      Expression.of(options(key), connection.options).siblings.nonEmpty
    }
    if (leading.nonEmpty)
      refuse(s"${listed(leading)} may not name what the connection '${connection.name}' sets: write no $$[...] there.")
    connection.options ++ options
  }

  private def refuseFormat(connection: NamedConnection, given: String): Nothing =
    refuse(s"The connection '${connection.name}' is for the data source '${connection.format}', not for $given.")

  private def listed(keys: Seq[String]): String =
    keys.map(key => s"'$key'").mkString(if (keys.size == 1) "the option " else "the options ", ", ", "")

  private def refuse(problem: String): Nothing = throw new OptionReferenceException(problem.capitalize)

  private def same(one: String, other: String): Boolean =
    one.equalsIgnoreCase(other) || Try(provider(one) == provider(other)).getOrElse(false)

  /** A source keeps the classes of its tables in the package of its provider. */
  private def isOf(table: Table, format: String): Boolean =
    Try {
      val found = provider(format)
      classOf[TableProvider].isAssignableFrom(found) && found.getPackage.getName == table.getClass.getPackage.getName
    }.getOrElse(false)

  private def provider(name: String): Class[_] = DataSource.lookupDataSource(name, SQLConf.get)
}
