package io.sparkconfig.driver

import io.sparkconfig.core.{Expression, Readers, SparkConfigException, Values}
import org.apache.hadoop.conf.Configuration
import org.apache.spark.sparkconfig.access.HadoopValues

/**
 * References in Hadoop configurations: those that Spark copied from its confs before plugins start (`spark.hadoop.K` as
 * `K`, and `spark.hive.K` as `hive.K`), and those that the application sets while it runs.
 *
 * @param atStart Hadoop key to text
 * @param known the values of the texts that the start has resolved
 */
private[driver] final class HadoopReferences(val atStart: Map[String, String], known: Map[String, String])
  extends HadoopValues {
  import HadoopReferences._

  override def of(key: String, text: String, copy: Boolean): Option[String] =
    if (!holds(text) || key.startsWith(Credential) || (copy && !Readers.isOfHadoop(key))) None
    else {
      val started = atStart.get(key).filter(_ == text).flatMap(_ => known.get(key))
      val value = started.getOrElse(resolved(key, text))
      if (value == text) None
      else if (value.contains("${")) throw new SparkConfigException(
        s"The Hadoop key '$key' cannot be set: the value of $text contains '$${', which Hadoop would expand when it " +
          "reads it. Change the secret.")
      else Some(value)
    }

  private def resolved(key: String, text: String): String =
    try Values.resolve(Expression(text))
    catch {
      case e: SparkConfigException => throw new SparkConfigException(
          s"The Hadoop key '$key' holds $text, which cannot be resolved: ${e.getMessage}")
    }
}

private[driver] object HadoopReferences {

  /** These stay references: Hadoop's getPassword asks for their values at each use. */
  private val Credential = "sparkconfig.credential."

  /** A reference has a colon; Hadoop's own `${hadoop.tmp.dir}`, which it has in many keys, has none. */
  private def holds(text: String): Boolean = Expression.mayHold(text) && (text.contains("$[") || holdsColon(text))

  /** Whether `${` and a colon stand before the same brace. Users write such texts: each part is read once. */
  private def holdsColon(text: String): Boolean =
    text.take(text.lastIndexOf('}') + 1).split('}').exists { part =>
      val begin = part.indexOf("${")
      begin >= 0 && part.indexOf(':', begin) >= 0
    }

  def of(configuration: Configuration, plan: StartPlan): HadoopReferences = {
    val found = for {
      key <- plan.expressions.keys.toSeq ++ plan.inPlace.keys
      hadoopKey <- hadoopKeyOf(key)
      text = configuration.getRaw(hadoopKey)
      if Expression.mayHold(text)
      value <- plan.snapshot.get(Expression.ofConf(key, text))
    } yield (hadoopKey, text, value)
    new HadoopReferences(
      found.map { case (key, text, _) => key -> text }.toMap,
      found.map { case (key, _, value) => key -> value }.toMap)
  }

  /** The Hadoop key to which Spark copies a conf. */
  def hadoopKeyOf(key: String): Option[String] =
    if (key.startsWith("spark.hadoop." + Credential)) None
    else if (key.startsWith("spark.hadoop.")) Some(key.stripPrefix("spark.hadoop."))
    else if (key.startsWith("spark.hive.")) Some(key.stripPrefix("spark."))
    else None
}
