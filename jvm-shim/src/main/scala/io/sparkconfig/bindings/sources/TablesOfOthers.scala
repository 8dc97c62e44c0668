package io.sparkconfig.bindings.sources

import scala.collection.JavaConverters._
import scala.util.Try

import io.sparkconfig.core.{NamedConnections, Readers}
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.analysis.ResolvedIdentifier
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.plans.logical.{Command, LogicalPlan, TableSpec}
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.datasources.DataSource
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sparkconfig.{OptionReferenceException, Sessions}

/**
 * Tables for which their connector makes commands of its own, such as Hudi's: these read options and properties at
 * moments that no rule knows, so that their tables hold no reference. A connector that is not listed shows itself by
 * a command of its own that makes a table.
 */
private[sources] final class TablesOfOthers(session: Sessions.Spark) {
  import TablesOfOthers._

  /** @throws OptionReferenceException a command is for such a table, which holds a reference or would hold one */
  def refuse(plan: LogicalPlan): Unit = plan.foreach {
    case command: Command if !Harmless.exists(command.getClass.getSimpleName.startsWith) =>
      val parts = command.productIterator.map { case Some(part) => part; case part => part }.toList
      if (!KnownCode.exists(command.getClass.getName.startsWith)) {
        parts.collect { case table: CatalogTable => described(table) }.foreach(refuse)
        refuse(Described("of " + command.nodeName, None, texts(parts)))
      }
      (parts.flatMap(tables) ++ made(parts) ++ altered(command, parts)).filter(_.provider.exists(isListed))
        .foreach(refuse)
    case _ => ()
  }

  private def refuse(table: Described): Unit =
    table.texts.find { case (key, text) => Options.mayHold(text) || NamedConnections.isKey(key) }
      .foreach { case (key, text) =>
        throw new OptionReferenceException(
          s"'$key' of table ${table.name} is '$text', and commands of ${table.provider.getOrElse("its connector")} " +
            "would use that text as it is: they read options and table properties by themselves. Keep it out of the " +
            "table, and write with df.write.format(...).option(...).save(), which gives values.")
      }

  private def tables(part: Any): Seq[Described] = part match {
    case table: CatalogTable => Seq(described(table))
    case table: Table =>
      val properties = table.properties.asScala.toMap
      Seq(Described(table.name, properties.get("provider"), properties))
    case Some(inner) => tables(inner)
    case plan: LogicalPlan =>
      plan.collect { case node =>
        node.productIterator.filterNot(_.isInstanceOf[LogicalPlan]).flatMap(tables).toSeq
      }.flatten
    case _ => Nil
  }

  private def made(parts: Seq[Any]): Seq[Described] = parts.collect { case spec: TableSpec =>
    val name = parts.collectFirst { case found: ResolvedIdentifier => found.identifier.toString }
    Described(name.getOrElse(""), spec.provider, spec.properties ++ spec.options)
  }

  /** Each table that gets new options or properties, or lends its provider to one that does. */
  private def altered(command: Command, parts: Seq[Any]): Seq[Described] = {
    val added = texts(parts)
    if (!Options.hold(added)) Nil
    else {
      val found = parts.flatMap {
        case name: TableIdentifier => known(name)
        case provider: String => Some(Described(command.nodeName, Some(provider), added))
        case _ => None
      }
      (found ++ command.children.flatMap(tables)).map(_.copy(texts = added))
    }
  }

  private def texts(parts: Seq[Any]): Map[String, String] = parts.flatMap {
    case map: Map[_, _] => map.toSeq.collect { case (key: String, text: String) => key -> text }
    case _ => Nil
  }.toMap

  private def known(name: TableIdentifier): Option[Described] =
    Try(described(Sessions.catalog(session).getTableMetadata(name))).toOption
}

private object TablesOfOthers {

  /** @param texts properties and options together, since such a connector may read each */
  final case class Described(name: String, provider: Option[String], texts: Map[String, String])

  /** Spark's, and ours. */
  private val KnownCode = Seq(
    "org.apache.spark.sql.catalyst.",
    "org.apache.spark.sql.execution.",
    "org.apache.spark.sql.hive.",
    "io.sparkconfig.")

  /** By which a table that holds a reference all the same is looked at, mended and dropped. */
  private val Harmless = Seq("Drop", "Describe", "Show", "Unset", "AlterTableUnset")

  private def described(table: CatalogTable): Described = Described(
    table.identifier.unquotedString,
    table.provider,
    table.storage.properties ++ table.properties)

  private def isListed(provider: String): Boolean =
    Readers.hasCommands(Try(DataSource.lookupDataSource(provider, SQLConf.get).getName).getOrElse(provider))
}
