package io.sparkconfig.core

import org.apache.hadoop.conf.Configuration

/**
 * Texts with references, for a connector that asks for credentials at each of its requests.
 *
 * A file of a thousand parts is a thousand requests: the driver's stores are asked ten times a second at most.
 */
final class FreshText {
  @volatile private var askedAt = System.nanoTime() - FreshText.Nanos

  /** The newest values of the texts, all of one generation; what holds no reference comes back as it is. */
  def values(texts: Seq[String]): Seq[String] = {
    val held = texts.filter(Expression.mayHold)
    val found = held.zip(ask(held.map(Expression(_)))).toMap
    texts.map(text => found.getOrElse(text, text))
  }

  private def ask(expressions: Seq[Expression]): Seq[String] = {
    val held = Values.snapshot
    val known = expressions.flatMap(held.get(_))
    if (known.size == expressions.size && System.nanoTime() - askedAt < FreshText.Nanos) known
    else {
      val values = Values.resolveAll(expressions)
      askedAt = System.nanoTime()
      values
    }
  }
}

object FreshText {
  private val Nanos = 100L * 1000000

  /** Code gets confs with this prefix by name only: Spark itself never substitutes their values. */
  val Prefix = "sparkconfig.credential."

  /** The first of these Hadoop confs that is set, as it is written. */
  def ofHadoop(conf: Configuration, names: Seq[String]): Option[String] =
    names.iterator.map(name => conf.getRaw(Prefix + name)).find(text => text != null && text.trim.nonEmpty).map(_.trim)

  /**
   * The same, for a connector that cannot do without.
   *
   * @throws SparkConfigException none is set; names the last one
   */
  def required(conf: Configuration, names: Seq[String], example: String): String =
    ofHadoop(conf, names).getOrElse(throw new SparkConfigException(
      s"'spark.hadoop.$Prefix${names.last}' is not set. It holds a reference, such as $example"))
}
