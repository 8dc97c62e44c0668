package io.sparkconfig.policy.doors

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}
import java.util.Locale

import io.sparkconfig.policy.doors.Surface.Verdict
import org.apache.spark.SPARK_VERSION

/** The surface files that are about SQL: plans and expressions, functions, and keys in what users write. */
private[doors] object SqlSurface {
  private val Shipped =
    Seq("plans.json", "arguments.json", "expressions.json", "functions.json", "keys.json", "delta.json", "iceberg.json")

  /** What a file may say; those who ask know what follows from each. */
  private val Verdicts = Set(
    "harmless",
    "refused",
    "asks:statement",
    "asks:path",
    "asks:place",
    "asks:resource",
    "asks:resources",
    "asks:source",
    "asks:options",
    "asks:table",
    "asks:name",
    "asks:namespace",
    "asks:query",
    "asks:procedure",
    "asks:function",
    "asks:call",
    "asks:default",
    "asks:expression",
    "asks:columns",
    "reads:part",
    "reads:named",
    "reads:name",
    "reads:nothing",
    "reads:function",
    "reads:constant")

  @volatile private var loaded: Option[Surface] = None

  private def surface: Surface = loaded.getOrElse(open(Nil))

  /**
   * Reads the files, and the operator's besides: before the first session, so that a wrong one stops the start.
   *
   * @throws Surface.SurfaceException one of them is wrong
   */
  def open(more: Seq[String]): Surface = {
    val read = Surface.read(Shipped.map(Surface.text) ++ more.map(text), Verdicts, SPARK_VERSION)
    loaded = Some(read)
    read
  }

  private def text(file: String): (String, String) =
    try file -> new String(Files.readAllBytes(Paths.get(file)), UTF_8)
    catch {
      case e: IOException => throw new Surface.SurfaceException(file, s"cannot be read: ${e.getClass.getSimpleName}")
    }

  def of(name: String): Option[Verdict] = surface.of(name)

  def names: Set[String] = surface.names

  def function(name: String): Option[Verdict] = of(s"${name.toLowerCase(Locale.ROOT)}()")

  val metadata = new Keys("metadata")
  val login = new Keys("login")
  val option = new Keys("option")
  val property = new Keys("property")

  /**
   * Keys of one kind; a line may have `*` in it. A key itself wins over a pattern, a longer pattern over a shorter.
   */
  final class Keys(kind: String) {
    private lazy val lines = names.toSeq.filter(_.startsWith(s"$kind ")).sortBy(name =>
      (name.contains("*"), -name.length))
      .map { name =>
        val words = name.drop(kind.length + 1).split("\\*", -1).map(java.util.regex.Pattern.quote)
        words.mkString(".*").r.pattern -> SqlSurface.of(name).get
      }

    def of(key: String): Option[Verdict] = lines.collectFirst {
      case (pattern, verdict) if pattern.matcher(key).matches => verdict
    }
  }
}
