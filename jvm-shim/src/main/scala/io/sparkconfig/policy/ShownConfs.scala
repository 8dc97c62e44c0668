package io.sparkconfig.policy

import org.apache.spark.sparkconfig.SparkAccess

/**
 * The confs that users of a shared server see, by the policy's patterns. A pattern with `*` is about what Spark has
 * registered; what an operator calls by a name of his own stands there by its whole name.
 */
private[policy] final class ShownConfs(patterns: Seq[String]) {
  private val (wild, exact) = patterns.partition(_.contains('*'))
  private val names = exact.toSet
  private val kinds = wild.map(_.split("\\*", -1).map(java.util.regex.Pattern.quote).mkString(".*").r.pattern)

  def shows(key: String): Boolean =
    names(key) || (kinds.exists(_.matcher(key).matches) && SparkAccess.isRegistered(key))
}

private[sparkconfig] object ShownConfs {

  /** Shown instead of a value. */
  val Hidden = "(hidden: the operator's policy does not show this conf)"

  /** Whether the value of a conf that no client has set is not for clients. */
  def hides(key: String): Boolean = PolicyClient.running.exists(!_.shows(key))
}
