package io.sparkconfig.core

import java.util.Locale
import java.util.regex.Pattern

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.JsonNode

/**
 * A connection of the settings, which users name. Not a case class: its text would show the options.
 *
 * @param format the data source that it is for
 * @param options what it sets, references unresolved
 * @param userOptions patterns, in lower case, of the options that users may set beside it
 */
private[sparkconfig] final class NamedConnection(
    val name: String,
    val format: String,
    val options: Map[String, String],
    userOptions: Seq[String]) {

  private val keys = options.keysIterator.map(NamedConnections.folded).toSet
  private val besides =
    userOptions.map(each => Pattern.compile(each.split("\\*", -1).map(Pattern.quote).mkString(".*")))

  def sets(option: String): Boolean = keys(NamedConnections.folded(option))

  /** Whether users may set an option that the connection does not set. */
  def letsUsersSet(option: String): Boolean =
    besides.exists(_.matcher(NamedConnections.folded(option)).matches)

  override def toString: String = s"NamedConnection($name)"
}

/** The connections of the running application, on its driver. Python reads and checks their settings. */
private[sparkconfig] object NamedConnections {

  /** The option that names one. */
  val Key = "sparkconfig.connection"

  @volatile private var known: Map[String, NamedConnection] = Map.empty

  def hold(connections: Seq[NamedConnection]): Unit = known = connections.map(each => each.name -> each).toMap

  def release(): Unit = known = Map.empty

  def isKey(key: String): Boolean = key.equalsIgnoreCase(Key)

  def isNamed(options: Map[String, String]): Boolean = options.keysIterator.exists(isKey)

  /** The name that options hold, in whatever case of letters its key is. */
  def nameIn(options: Map[String, String]): Option[String] = options.collectFirst {
    case (key, name) if isKey(key) => name
  }

  def find(name: String): Option[NamedConnection] = known.get(name)

  /** The options without what their connection sets: those that the user wrote. */
  def written(options: Map[String, String]): Map[String, String] = nameIn(options).flatMap(find) match {
    case Some(connection) => options.filterNot { case (key, _) => connection.sets(key) }
    case None => options
  }

  def withoutKey(options: Map[String, String]): Map[String, String] =
    if (isNamed(options)) options.filterNot { case (key, _) => isKey(key) }
    else options

  def fromJson(nodes: JsonNode): Seq[NamedConnection] =
    if (nodes == null) Nil
    else nodes.elements().asScala.map { node =>
      new NamedConnection(
        node.get("name").asText,
        node.get("format").asText,
        Json.fields(node.get("options")).map { case (key, text) => key -> text.asText }.toMap,
        Json.texts(node.get("user_options")))
    }.toList

  private[core] def folded(key: String): String = key.toLowerCase(Locale.ROOT)
}
