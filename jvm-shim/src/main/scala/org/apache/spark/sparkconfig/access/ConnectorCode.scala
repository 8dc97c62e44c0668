package org.apache.spark.sparkconfig.access

import java.util.stream.{Stream => JStream}

/**
 * Connectors that read confs by themselves, from copies and listings: who asks decides whether they hold values. A
 * connector gets those under its own prefixes; pages, event logs, sessions and the job's own code get references.
 *
 * @param packages Java packages by the prefix of the confs that belong to them; both end with a dot
 */
final class ConnectorCode(packages: Map[String, Seq[String]]) {
  import ConnectorCode._

  /** Whether it is worth the look at who asks. */
  def mayHave(key: String, text: String): Boolean =
    text != null && text.indexOf('$') >= 0 && packages.keysIterator.exists(key.startsWith)

  /** The prefixes whose values the code that asks may have. */
  def asking(): Seq[String] = Walker.walk[Seq[String]] { (frames: JStream[StackWalker.StackFrame]) =>
    val all = frames.iterator()
    var found: Option[Seq[String]] = None
    while (found.isEmpty && all.hasNext) {
      val frame = all.next()
      val name = frame.getClassName
      val theirs = packages.collect { case (prefix, known) if known.exists(name.startsWith) => prefix }.toSeq
      if (theirs.nonEmpty) found = Some(theirs)
      else if (!passesOn(frame)) found = Some(Nil)
    }
    found.getOrElse(Nil)
  }
}

object ConnectorCode {
  val Nobody = new ConnectorCode(Map.empty)

  private val Walker = StackWalker.getInstance()

  /** Parts of languages, and this package itself. */
  private val Between = Seq("java.", "jdk.", "scala.", "sun.", "org.apache.spark.sparkconfig.")

  /**
   * Spark's classes by which a caller gets at confs. Everything else of Spark asks for itself, as its pages and
   * listeners do, even when called by a connector.
   */
  private val OfConfs = Seq(
    "org.apache.spark.SparkConf",
    "org.apache.spark.sql.internal.SQLConf",
    "org.apache.spark.sql.internal.RuntimeConfigImpl",
    "org.apache.spark.sql.classic.RuntimeConfig",
    "org.apache.spark.sql.RuntimeConfig",
    "org.apache.spark.sql.sparkconfig.ConnectorSettings")
  private val GetConf = Set("org.apache.spark.SparkContext", "org.apache.spark.api.java.JavaSparkContext")

  private def passesOn(frame: StackWalker.StackFrame): Boolean = {
    val name = frame.getClassName
    Between.exists(name.startsWith) ||
    OfConfs.exists(each => name == each || name.startsWith(each + "$")) ||
    (GetConf(name) && (frame.getMethodName == "getConf" || frame.getMethodName == "conf"))
  }
}
