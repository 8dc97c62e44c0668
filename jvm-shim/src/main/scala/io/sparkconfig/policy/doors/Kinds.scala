package io.sparkconfig.policy.doors

import java.util.Locale
import java.util.concurrent.ConcurrentHashMap

import io.sparkconfig.policy.doors.Surface.Verdict

/**
 * What the surface files say of one class of a plan.
 *
 * @param name as the files write it
 * @param verdict None: no file lists it
 * @param arguments those that a file decides, by their names
 */
private[doors] final case class Kind(name: String, verdict: Option[Verdict], arguments: Map[String, Verdict])

/** The classes of plans, expressions and what they hold, as the surface files list them: read once for each class. */
private[doors] object Kinds {
  private lazy val arguments: Map[String, Map[String, Verdict]] =
    SqlSurface.names.toSeq.filter(name => name.contains(".") && !name.contains(" "))
      .map(name => (name.take(name.lastIndexOf('.')), name.drop(name.lastIndexOf('.') + 1), SqlSurface.of(name).get))
      .groupBy(_._1).map { case (owner, all) => owner -> all.map(each => each._2 -> each._3).toMap }

  private val known = new ConcurrentHashMap[Class[_], Kind]()
  private val harmless = new ConcurrentHashMap[Class[_], java.lang.Boolean]()

  def of(kind: Class[_]): Kind = known.computeIfAbsent(kind, read(_))

  /** Whether a file says of a class, or of one that it extends, that its objects are harmless. */
  def isHarmless(kind: Class[_]): Boolean = harmless.computeIfAbsent(
    kind,
    each =>
      java.lang.Boolean.valueOf(above(each).exists(one => SqlSurface.of(short(one)).exists(_.kind == "harmless"))))

  /** What rules call a statement of this class: as a file says, or `org.acme.DropTable` as `drop-table`. */
  def statement(kind: Kind): Option[String] = kind.verdict.collect {
    case Verdict("asks:statement", "") =>
      kebab(kind.name.split('.').last.stripSuffix("Command").stripSuffix("Statement"))
    case Verdict("asks:statement", name) => name
  }

  private def read(kind: Class[_]): Kind = {
    val name = short(kind)
    Kind(name, SqlSurface.of(name), arguments.getOrElse(name, Map.empty))
  }

  private def above(kind: Class[_]): Iterator[Class[_]] =
    if (kind == null) Iterator.empty
    else Iterator(kind) ++ above(kind.getSuperclass) ++ kind.getInterfaces.iterator.flatMap(above)

  /** Spark's own packages are left out, so that a class that moved keeps its line. */
  private def short(kind: Class[_]): String = kind.getName.stripSuffix("$")
    .replaceFirst("^org\\.apache\\.spark\\.sql\\.((catalyst|execution|hive|metricview)\\.(.*\\.)?)?", "")

  private def kebab(name: String): String =
    name.replaceAll("([a-z0-9])([A-Z])", "$1-$2").replaceAll("([A-Z]+)([A-Z][a-z])", "$1-$2").toLowerCase(Locale.ROOT)
}
