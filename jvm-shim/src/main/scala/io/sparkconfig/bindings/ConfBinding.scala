package io.sparkconfig.bindings

import io.sparkconfig.core.{Binding, Bound, ConfValues}
import org.apache.spark.SparkContext
import org.apache.spark.sparkconfig.{ReferenceConf, SparkAccess}
import org.apache.spark.sql.sparkconfig.ConnectorConfs

/** Reads of the application's confs, and of those of its sessions. */
private[bindings] object ConfBinding extends Binding {
  override def name: String = "confs"

  override def binds: Seq[Bound] = Seq(Bound("confs, by [who reads them](confs.md)", "yes", "yes"))

  override def start(sc: SparkContext, values: ConfValues): Unit = {
    ReferenceConf.install(SparkAccess.conf(sc), values.of, values.connectors, () => ConnectorConfs.prepare())
    ConnectorConfs.hold(values.of, values.connectors, values.check)
  }

  override def release(): Unit = ConnectorConfs.release()
}
