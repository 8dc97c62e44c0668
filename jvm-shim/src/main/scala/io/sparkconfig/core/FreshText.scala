package io.sparkconfig.core

import org.apache.hadoop.conf.Configuration

/**
 * Texts with references, for a connector that asks for credentials at each of its requests.
 *
 * The policies are asked each time, since another user may send the next request, to another place; they remember
 * what they have allowed.
 */
final class FreshText {

  /**
   * The newest values of the texts, all of one generation; what holds no reference comes back as it is.
   *
   * @throws SparkConfigException a reference has no value, or a policy refuses to let it go there
   */
  def values(credentials: Credentials): Seq[String] = {
    Values.allowConnection(Seq(credentials.format), credentials.options)
    val texts = credentials.texts.map(_._2)
    val held = texts.filter(Expression.mayHold)
    val found = held.zip(Values.resolveAll(held.map(Expression(_)))).toMap
    texts.map(text => if (Expression.mayHold(text)) found(text) else text)
  }
}

/**
 * What a connector sends, and where. Its texts are references or the user's own, so it is not a case class.
 *
 * @param format as rules name it: `s3a`, `abfs`, `gcs`, `iceberg`, `cassandra`
 * @param texts by the names of their options, in the order in which the connector wants the values
 * @param place the options that say where they go; see [[FileSystems]]
 */
final class Credentials(val format: String, val texts: Seq[(String, String)], place: Map[String, String]) {
  val options: Map[String, String] = place ++ texts
}

object FreshText {

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
