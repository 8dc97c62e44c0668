package io.sparkconfig.bindings

import io.sparkconfig.core.{Binding, Bound, ConfValues}
import org.apache.spark.SparkContext
import org.apache.spark.sparkconfig.ReferenceHadoopConf

/** Reads of the application's Hadoop configuration. */
private[bindings] object HadoopConfBinding extends Binding {
  override def name: String = "Hadoop's configuration"

  override def binds: Seq[Bound] =
    Seq(Bound("`spark.hadoop.*` values of file systems, such as S3A's keys [8]", "yes", "yes"))

  override def start(sc: SparkContext, values: ConfValues): Unit =
    ReferenceHadoopConf.install(sc, values.hadoopAtStart, values.hadoop)
}
