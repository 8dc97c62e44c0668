package io.sparkconfig.core

import java.util.Locale

/**
 * A value text that holds references, as it travels to the side process and as it is looked up in a snapshot.
 *
 * Python alone parses and evaluates texts. Here are estimates of that grammar, which may be too wide and never too
 * narrow: whether a text may hold something to resolve, and which other keys of its map have to travel with it.
 * `tests/conformance/expressions/cases.json` holds both sides to that.
 *
 * @param text the whole value
 * @param id what identifies it in a snapshot: the text itself, unless its meaning depends on where it stands
 * @param siblings the raw texts of the same option map, its own included, that the commands of `text` may name when it
 *                 holds `$[` (KIP-269); otherwise at most what declares `kafka.config.providers`
 */
final case class Expression private (text: String, id: String, siblings: Map[String, String])

object Expression {
  private val Separator = "\u0000"
  private val KafkaProviders = "kafka.config.providers"
  private val Opening = java.util.regex.Pattern.compile("\\$\\[+")
  private val BuiltIn = java.util.regex.Pattern.compile("\\s*(keyValue|envVar|sysProp|file)\\s*[=/]")

  /** Cheap test, without a grammar, for texts that may hold a reference. */
  def mayHold(text: String): Boolean = text != null && (text.contains("${") || text.contains("$["))

  /** Whether a `${` has no colon or no closing brace. Inside of `$[...]` it may be anything. */
  def isHalf(text: String): Boolean = {
    var start = if (text.contains("$[")) -1 else text.indexOf("${")
    var half = false
    while (start >= 0 && !half) {
      val colon = text.indexOf(':', start)
      val end = text.indexOf('}', start)
      half = end < 0 || colon < 0 || colon > end
      start = text.indexOf("${", end)
    }
    half
  }

  def apply(text: String): Expression = new Expression(text, text, Map.empty)

  /**
   * The value of an option map's entry.
   *
   * @param map the whole map with this entry, which its own substitutions may reach in a circle. A text without any
   *            needs to know whose the references are: Kafka's clients resolve what the map's own providers hold
   */
  def of(text: String, map: Iterable[(String, String)]): Expression = {
    val named = text.contains("$[")
    // Most maps need no copy: a connection opens in the time of a few.
    if (!named && !map.exists { case (key, _) => KafkaProviders.equalsIgnoreCase(key) }) Expression(text)
    else {
      val set = map.toMap.filter { case (_, value) => value != null }
      val kafka = declarations(set)
      withSiblings(text, if (named) this.named(text, set) ++ kafka else kafka)
    }
  }

  /** Names and classes of the map's own Kafka providers; Spark's option keys have no case. */
  private def declarations(map: Map[String, String]): Map[String, String] = {
    val lower = map.map { case (key, value) => key.toLowerCase(Locale.ROOT) -> value }
    if (!lower.contains(KafkaProviders)) Map.empty
    else lower.filter { case (key, _) =>
      key == KafkaProviders || (key.startsWith(KafkaProviders + ".") && key.endsWith(".class"))
    }
  }

  /**
   * The part of a map that a text may lead to: every key that is in it, or in what it leads to, as plain text.
   * Others would make a new expression of each map that differs in an option that has nothing to do with it.
   * Commands that could ask for keys that stand nowhere get the whole map.
   */
  private def named(text: String, map: Map[String, String]): Map[String, String] = {
    var found = Map.empty[String, String]
    var waiting = List(text)
    while (waiting.nonEmpty) {
      val next = waiting.head
      if (mayAskForAnyKey(next)) return map
      val lower = next.toLowerCase(Locale.ROOT)
      val more = map.filter { case (key, _) => !found.contains(key) && lower.contains(key.toLowerCase(Locale.ROOT)) }
      found ++= more
      waiting = waiting.tail ++ more.values.filter(_.contains("$["))
    }
    found
  }

  /** Types that are not built in, and keys whose names are values. */
  private def mayAskForAnyKey(text: String): Boolean =
    text.contains("fromValueOfKey") || Opening.split(text, -1).drop(1).exists(!BuiltIn.matcher(_).lookingAt())

  def withSiblings(text: String, siblings: Map[String, String]): Expression =
    if (siblings.isEmpty) Expression(text)
    else {
      val sorted = Json.obj()
      siblings.toSeq.sorted.foreach { case (key, value) => sorted.put(key, value) }
      new Expression(text, text + Separator + Json.write(sorted), siblings)
    }

  /** The value of a Spark conf; its siblings are the other confs, which the side process has. */
  def ofConf(key: String, text: String): Expression =
    if (text.contains("$[")) new Expression(text, text + Separator + "conf:" + key, Map.empty)
    else Expression(text)
}
