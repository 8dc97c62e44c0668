package io.sparkconfig.bindings

import io.sparkconfig.bindings.sources.{CatalogOptions, CommandBinding, LoadBinding, V2Binding, WrapperSource}
import io.sparkconfig.core.{Binding, ConfValues}
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.{SparkConf, SparkContext}

/** The binding points of an application. */
private[sparkconfig] object Bindings {

  /** In the order in which their rules run. */
  val all: Seq[Binding] = Seq(
    ConfBinding,
    HadoopConfBinding,
    LoadBinding,
    JdbcBinding,
    CommandBinding,
    V2Binding,
    WrapperSource,
    CatalogOptions,
    ReferenceCredentials)

  /** As one text for a log line. */
  def names: String = all.map(_.name).mkString(", ")

  def start(sc: SparkContext, values: ConfValues): Unit = all.foreach(_.start(sc, values))

  def release(): Unit = all.foreach(_.release())

  def prepare(conf: SparkConf): Unit = all.foreach(_.prepare(conf))

  def inject(session: SparkSessionExtensions): Unit = all.foreach(_.inject(session))
}
