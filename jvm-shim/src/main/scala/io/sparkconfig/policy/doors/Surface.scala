package io.sparkconfig.policy.doors

import scala.collection.JavaConverters._
import scala.collection.mutable
import scala.util.Try

import com.fasterxml.jackson.core.JsonParser.Feature
import com.fasterxml.jackson.core.JsonProcessingException
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import io.sparkconfig.core.SparkConfigException

/**
 * What surface files decide, by name: each name has one verdict for the Spark that runs. A name that has none is
 * refused by who asks.
 */
private[sparkconfig] final class Surface(verdicts: Map[String, Surface.Verdict]) {
  def of(name: String): Option[Surface.Verdict] = verdicts.get(name)

  def names: Set[String] = verdicts.keySet
}

private[sparkconfig] object Surface {

  /**
   * @param kind `harmless`, `refused`, or who decides about it, such as `asks:path`
   * @param argument what else is written behind that: `read`
   */
  final case class Verdict(kind: String, argument: String)

  /** Files that are wrong are an error that stops the start: what they decide is not known. */
  final class SurfaceException(file: String, problem: String)
    extends SparkConfigException(s"the surface file $file $problem")

  private val json = new ObjectMapper().enable(Feature.STRICT_DUPLICATE_DETECTION)

  /** @param name of a file of this jar, such as `connect.json` */
  def text(name: String): (String, String) = {
    val stream = getClass.getResourceAsStream(s"/sparkconfig/surface/$name")
    try name -> new String(stream.readAllBytes(), "UTF-8")
    finally stream.close()
  }

  /**
   * Reads files one after another; none may decide what another has decided.
   *
   * @param files their names and texts
   * @param kinds the kinds of verdicts that whoever asks understands
   * @param spark the version that runs
   * @throws SurfaceException saying what is wrong, and in which file
   */
  def read(files: Seq[(String, String)], kinds: Set[String], spark: String): Surface = {
    val found = mutable.HashMap.empty[String, Verdict]
    files.foreach { case (file, text) =>
      def wrong(problem: String): Nothing = throw new SurfaceException(file, problem)
      def keys(node: JsonNode, allowed: String*): Unit = {
        if (!node.isObject) wrong(s"has something else where an object with ${allowed.mkString(", ")} belongs")
        allowed.filterNot(node.has).foreach(key => wrong(s"lacks the key '$key'"))
        node.fieldNames.asScala.filterNot(allowed.contains).foreach(key => wrong(s"has the unknown key '$key'"))
      }
      val root =
        try json.readTree(text)
        catch { case e: JsonProcessingException => wrong(s"is not JSON: ${e.getOriginalMessage}") }
      keys(root, "sparks", "groups")
      val all = Range(root.get("sparks").asText).getOrElse(wrong("has no range of Sparks, such as 4.0-4.3"))
      val version = Range(spark.split('.').take(2).mkString(".")).getOrElse(wrong(s"is not for Spark $spark")).first
      if (!all.holds(version)) wrong(s"is for Spark ${all.text}, and this is $spark")
      root.get("groups").asScala.foreach { group =>
        keys(group, "verdict", "reason", "fields")
        val written = group.get("verdict").asText
        val (kind, argument) = kinds.toSeq.sortBy(-_.length).find(kind => s"$written:".startsWith(s"$kind:"))
          .map(kind => kind -> written.drop(kind.length + 1))
          .getOrElse(wrong(s"has the unknown verdict '$written'"))
        if (group.get("reason").asText.isEmpty) wrong(s"has no reason for '$written'")
        group.get("fields").fields.asScala.foreach { entry =>
          val range = Range(entry.getKey).filter(all.holds)
            .getOrElse(wrong(s"has the range '${entry.getKey}', which is not within ${all.text}"))
          if (range.holds(version)) entry.getValue.asScala.map(_.asText).foreach { name =>
            if (found.put(name, Verdict(kind, argument)).isDefined) wrong(s"decides '$name', which is decided already")
          }
        }
      }
    }
    new Surface(found.toMap)
  }

  /** Versions such as 4.1-4.3, both included. */
  private final case class Range(first: (Int, Int), last: (Int, Int), text: String) {
    def holds(version: (Int, Int)): Boolean = !Order.lt(version, first) && !Order.lt(last, version)
    def holds(other: Range): Boolean = holds(other.first) && holds(other.last)
  }

  private val Order = implicitly[Ordering[(Int, Int)]]

  private object Range {
    def apply(text: String): Option[Range] = Try {
      val Array(first, last) = text.split("-", 2).padTo(2, text).map(number)
      Range(first, last, text)
    }.toOption.filter(range => !Order.lt(range.last, range.first))

    private def number(text: String): (Int, Int) = {
      val Array(major, minor) = text.split('.').map(_.toInt)
      (major, minor)
    }
  }
}
