package io.sparkconfig.core

import org.apache.spark.sparkconfig.access.{ConnectorCode, HadoopValues}
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.{SparkConf, SparkContext}

/**
 * A place where Spark uses values. Each is in its own file and in `Bindings.all`; the hooks, the line that the
 * start logs and the table of docs/data-sources.md follow from that list.
 */
private[sparkconfig] trait Binding {

  /** As logs call it. */
  def name: String

  /** Where references may stand: rows of the table in docs/data-sources.md, which tools/docs/generate.py reads. */
  def binds: Seq[Bound]

  /** The start knows all values, and no hook has read a conf: puts them where confs are read. */
  def start(sc: SparkContext, values: ConfValues): Unit = ()

  /** The application ends, or could not start. */
  def release(): Unit = ()

  /** The application starts: sets confs that Spark has not read yet. */
  def prepare(conf: SparkConf): Unit = ()

  /** A session starts: puts the binding's rules among its rules. */
  def inject(session: SparkSessionExtensions): Unit = ()
}

/**
 * @param what the place, for users
 * @param spark4 what holds on Spark 4, classic and Connect
 * @param spark35 what holds on Spark 3.5
 */
private[sparkconfig] final case class Bound(what: String, spark4: String, spark35: String)

/**
 * What the texts of confs become.
 *
 * @param of the current value of a key's text; None: the text holds no reference of ours
 * @param connectors who gets values from enumerations
 * @param check throws if a connector or Hadoop would use the text of a key
 * @param hadoopAtStart Hadoop key to text with references, of the start
 */
private[sparkconfig] final case class ConfValues(
    of: (String, String) => Option[String],
    connectors: ConnectorCode,
    check: (String, String) => Unit,
    hadoop: HadoopValues,
    hadoopAtStart: Map[String, String])
