package io.sparkconfig.core

import java.util.Properties

import org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions

/**
 * URL and driver properties of one connection, with values. Never a case class, which would show them.
 *
 * @param values by key; [[Target.Url]] for the URL
 * @param keys of the references in `used`, in their order
 * @param connection the named connection that sets them, if one does: its users may not know its references
 */
private[sparkconfig] final class Target(
    private val values: Map[String, String],
    val keys: Seq[String],
    val used: Used,
    val connection: Option[String] = None) {

  def url: String = values(Target.Url)

  def properties: Map[String, String] = values - Target.Url

  def asProperties: Properties = {
    val made = new Properties()
    properties.foreach { case (key, value) => made.setProperty(key, value) }
    made
  }

  def sameAs(other: Target): Boolean = values == other.values

  /** What was used in some of the options. */
  def part(wanted: String => Boolean): Used = {
    val chosen = keys.indices.filter(i => wanted(keys(i)))
    new Used(chosen.map(used.expressions), chosen.map(used.values), used.generation)
  }
}

private[sparkconfig] object Target {

  /** No driver property has an empty name. */
  val Url = ""

  /** The option's name as the user writes it. */
  def option(key: String): String = if (key == Url) JDBCOptions.JDBC_URL else key

  /**
   * All parts of a connection, of one generation.
   *
   * @param siblings the whole option map, whose keys the parts may name (KIP-269)
   */
  def of(parts: Map[String, String], siblings: Map[String, String]): Target = {
    val held = parts.toSeq.filter { case (_, text) => Expression.mayHold(text) }
    val expressions = held.map { case (_, text) => Expression.of(text, siblings) }
    val used = if (held.isEmpty) Used.Nothing else Values.use(expressions)
    new Target(parts ++ held.map(_._1).zip(used.values), held.map(_._1), used, NamedConnections.nameIn(siblings))
  }
}
