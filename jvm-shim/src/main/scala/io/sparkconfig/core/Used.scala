package io.sparkconfig.core

/**
 * What one use of references got: all values are of one generation. Never a case class, which would show them.
 *
 * @param expressions with references, each once
 * @param values theirs, in their order
 * @param generation the one that the values were read from
 * @param texts ids of those that no provider answers any part of: they are their own values
 */
final class Used(
    val expressions: Seq[Expression],
    val values: Seq[String],
    val generation: Long,
    val texts: Set[String] = Set.empty) {

  /** Whether another use of the same expressions got the same. */
  def sameAs(other: Used): Boolean = values == other.values

  override def toString: String = s"Used(${expressions.size} expressions of generation $generation)"
}

object Used {
  val Nothing = new Used(Nil, Nil, 0L)

  /**
   * @param isText whether a text holds no reference that a provider answers: it is its own value
   * @throws SparkConfigException one of them has no value
   */
  def of(snapshot: Snapshot, expressions: Seq[Expression], isText: Expression => Boolean): Used = {
    var texts = Set.empty[String]
    val values = expressions.map(each =>
      snapshot.values.getOrElse(
        each.id,
        if (isText(each)) { texts += each.id; each.text }
        else throw noValue(each)))
    new Used(expressions, values, snapshot.generation, texts)
  }

  def noValue(expression: Expression): SparkConfigException = new SparkConfigException(
    s"${expression.text} has no value now; the driver's log and the page Config say why")
}
