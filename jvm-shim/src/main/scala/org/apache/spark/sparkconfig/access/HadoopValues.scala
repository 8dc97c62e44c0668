package org.apache.spark.sparkconfig.access

/** What becomes of a text that is set in a Hadoop configuration. */
trait HadoopValues {

  /**
   * The value of a text; None: it stays as it is.
   *
   * @param copy whether the configuration is a copy of the application's, as each session makes one of its confs
   * @throws io.sparkconfig.core.SparkConfigException naming the key, if its reference has no value
   */
  def of(key: String, text: String, copy: Boolean): Option[String]
}
