package io.sparkconfig.driver

import io.sparkconfig.core.{Expression, SparkConfigException}
import org.apache.hadoop.conf.Configuration

/**
 * References that Spark copied from its confs into the Hadoop configuration before plugins start:
 * `spark.hadoop.K` as `K`, and `spark.hive.K` as `hive.K`.
 *
 * @param references Hadoop key to text
 * @param values Hadoop key to value
 */
private[driver] final class HadoopReferences(val references: Map[String, String], val values: Map[String, String]) {

  /** Hadoop expands `${...}` inside values when it reads them: such a value must come back byte for byte. */
  def verify(configuration: Configuration): Unit = {
    val changed = values.collect { case (key, value) if configuration.get(key) != value => key }
    if (changed.nonEmpty) {
      throw new SparkConfigException(changed.toSeq.sorted.map { key =>
        s"spark.hadoop.$key: the value of ${references(key)} contains '$${', which Hadoop would expand when it " +
          "reads it. Change the secret."
      }.mkString("sparkconfig cannot pass these values on, and the application does not start:\n  - ", "\n  - ", ""))
    }
  }
}

private[driver] object HadoopReferences {
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

  private def hadoopKeyOf(key: String): Option[String] =
    // These stay references: Hadoop's getPassword asks for their values at each use.
    if (key.startsWith("spark.hadoop.sparkconfig.credential.")) None
    else if (key.startsWith("spark.hadoop.")) Some(key.stripPrefix("spark.hadoop."))
    else if (key.startsWith("spark.hive.")) Some(key.stripPrefix("spark."))
    else None
}
