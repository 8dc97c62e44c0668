package io.sparkconfig.binding

import io.sparkconfig.SparkConfigException

/** Where values come from: the side process on the driver, the driver's snapshot on an executor. */
trait ValueSource {
  /** The newest value of an expression; a text without references comes back as it is. */
  def resolve(expression: Expression): String

  /** Values of several expressions in their order, all of one generation, so that a user fits its password. */
  def resolveAll(expressions: Seq[Expression]): Seq[String]

  /** The value of an expression for a Python worker: what workers may ask for, the policy decides anew. */
  def resolveForWorker(expression: Expression): String

  /** The newest snapshot that this process holds. */
  def snapshot: Snapshot

  /** Asks for news now. Gives true if a newer generation came. */
  def refresh(): Boolean
}

/**
 * The values of this process: the one thing that binding points ask. Spark creates connection providers,
 * credential providers and filters by itself, so they find their values here.
 */
object Values {
  @volatile private var source: ValueSource = Unconfigured

  def install(values: ValueSource): Unit = source = values

  /** Removes a source, unless another application in this JVM has put its own there since. */
  def uninstall(values: ValueSource): Unit = synchronized { if (source eq values) source = Unconfigured }

  def isInstalled: Boolean = source ne Unconfigured

  def snapshot: Snapshot = source.snapshot

  def refresh(): Boolean = source.refresh()

  def resolve(expression: Expression): String =
    if (Expression.mayHold(expression.text)) source.resolve(expression) else expression.text

  /** Values of several expressions in their order, all of one generation. */
  def resolveAll(expressions: Seq[Expression]): Seq[String] = source.resolveAll(expressions)

  /** Resolves all values of a map, in one generation; the keys stay. */
  def resolveMap(map: Map[String, String]): Map[String, String] = resolveMap(map, map)

  /** The same for a part of a map: `siblings` is the whole of it, whose keys the values may name (KIP-269). */
  def resolveMap(map: Map[String, String], siblings: Map[String, String]): Map[String, String] = {
    val held = map.toSeq.filter { case (_, value) => Expression.mayHold(value) }
    if (held.isEmpty) map
    else map ++ held.map(_._1).zip(source.resolveAll(held.map { case (_, value) => Expression.of(value, siblings) }))
  }

  private object Unconfigured extends ValueSource {
    override def resolve(expression: Expression): String = resolveAll(Seq(expression)).head
    override def resolveAll(expressions: Seq[Expression]): Seq[String] = throw new SparkConfigException(
      "A reference cannot be resolved in this process, since sparkconfig is not running here. " +
        "Set spark.plugins=io.sparkconfig.ConfigPlugin for the application.")
    override def resolveForWorker(expression: Expression): String = resolve(expression)
    override def snapshot: Snapshot = Snapshot.Empty
    override def refresh(): Boolean = false
  }
}
