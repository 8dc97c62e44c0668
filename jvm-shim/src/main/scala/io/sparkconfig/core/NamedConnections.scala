package io.sparkconfig.core

import java.util.Locale
import java.util.concurrent.ConcurrentHashMap
import java.util.regex.Pattern

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.JsonNode
import org.slf4j.LoggerFactory

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

  /** Its own text of an option, or none. */
  private def text(option: String): Option[String] =
    options.collectFirst { case (key, text) if NamedConnections.folded(key) == NamedConnections.folded(option) => text }

  /** Notes what its options became where Spark reads them itself: such a text is the connection's, too. */
  def became(resolved: Map[String, String]): Unit = options.foreach { case (key, text) =>
    resolved.get(key).filter(_ != text).foreach { value =>
      if (values.size >= NamedConnection.MostValues) values.clear()
      values.add(NamedConnections.folded(key) -> value)
    }
  }

  private val values = ConcurrentHashMap.newKeySet[(String, String)]()

  /** Why these options may not be used under this connection's name; None: they may. */
  def problemWith(given: Map[String, String]): Option[String] = given.toSeq.sortBy(_._1).collectFirst {
    case (key, found) if text(key).exists(_ != found) && !values.contains(NamedConnections.folded(key) -> found) =>
      s"The connection '$name' sets the option '$key', which cannot be overridden: " +
        "leave it out, or do not name the connection."
    case (key, _) if text(key).isEmpty && !key.equalsIgnoreCase("driver") && !letsUsersSet(key) =>
      s"The option '$key' may not stand beside the connection '$name', since it could lead elsewhere or load code."
  }

  override def toString: String = s"NamedConnection($name)"
}

private object NamedConnection {

  /** A value for each rotation of what Spark reads itself, which are few: the URL of a database. */
  val MostValues = 100
}

/** The connections of the running application, on its driver. Python reads and checks their settings. */
private[sparkconfig] object NamedConnections {

  /** The option that names one. */
  val Key = "sparkconfig.connection"

  private val log = LoggerFactory.getLogger("io.sparkconfig.core.NamedConnections")
  @volatile private var known: Map[String, NamedConnection] = Map.empty

  def hold(connections: Seq[NamedConnection]): Unit = known = connections.map(each => each.name -> each).toMap

  def release(): Unit = known = Map.empty

  def isKey(key: String): Boolean = key.equalsIgnoreCase(Key)

  def isNamed(options: Map[String, String]): Boolean = options.keysIterator.exists(isKey)

  /** The name that options hold; upper and lower case of its key do not matter. */
  def nameIn(options: Map[String, String]): Option[String] = options.collectFirst {
    case (key, name) if isKey(key) => name
  }

  def all: Seq[NamedConnection] = known.values.toSeq

  def find(name: String): Option[NamedConnection] = known.get(name)

  /**
   * Refuses a connection that names one of these, and is about to be made otherwise.
   *
   * @param options its URL, properties and driver
   * @throws SparkConfigException naming the option
   */
  def requireOwn(options: Map[String, String]): Unit =
    nameIn(options).flatMap(find).flatMap(_.problemWith(withoutKey(options))).foreach { problem =>
      throw new SparkConfigException(problem)
    }

  /**
   * What users are told where a connection's references have no value: they know its name alone. The operator finds the
   * whole reason in the log.
   */
  def withheld(name: String, reason: SparkConfigException): String = {
    log.warn("the connection '{}' cannot be opened: {}", name, reason.getMessage: Any)
    s"the connection '$name' has no values for its references now; the server's log says why, ask the operator"
  }

  /** The options without what their connection sets: those that the user wrote. */
  def written(options: Map[String, String]): Map[String, String] = nameIn(options).flatMap(find) match {
    case Some(connection) => options.filterNot { case (key, _) => connection.sets(key) }
    case None => options
  }

  /** Whether options hold SQL of the user's own, which a database may take for more than reading. */
  def holdsSql(options: Map[String, String]): Boolean = options.exists { case (key, text) =>
    val option = folded(key)
    Sql(option) || option == "dbtable" && !Table.matcher(String.valueOf(text).trim).matches
  }

  private val Sql = Set("query", "hint", "preparequery", "sessioninitstatement", "preactions", "postactions")

  /** A table's name of one or more parts, each plain or in quotes. */
  private val Table = {
    val part = "[\\w$#]+|\"[\\w $#@-]+\"|`[\\w $#@-]+`|\\[[\\w $#@-]+\\]"
    Pattern.compile(s"(?:$part)(?:\\.(?:$part))*", Pattern.UNICODE_CHARACTER_CLASS)
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
