package io.sparkconfig.driver

import io.sparkconfig.agent.AgentClient
import io.sparkconfig.core.{Expression, NamedConnection, PolicyStart, Snapshot, SparkConfigException, Used}
import io.sparkconfig.policy.doors.SinglePass
import org.apache.spark.SparkConf
import org.apache.spark.sparkconfig.SparkAccess

/**
 * What the start will do with the references in the confs, once all of them were checked.
 *
 * @param expressions conf key to its expression
 * @param inPlace conf key to the value that is put into the conf itself (`spark.config.inplace.keys`)
 * @param policy what the doors need, if there are policies
 * @param connections what users may name
 * @param dropped confs that an application before this one has left, and that cannot be resolved any more
 */
private[sparkconfig] final class StartPlan(
    val snapshot: Snapshot,
    val expressions: Map[String, Expression],
    val inPlace: Map[String, String],
    val policy: Option[PolicyStart],
    val connections: Seq[NamedConnection],
    val dropped: Seq[String]) {

  /**
   * The value that a read of a conf gets. References in keys that were set after the start resolve too where the
   * snapshot holds the same text.
   *
   * @throws SparkConfigException it has lost its value
   */
  def value(key: String, text: String, newest: Snapshot): Option[String] =
    if (key.startsWith(StartPlan.OwnPrefix)) None
    else {
      val expression = Expression.ofConf(key, text)
      val value = newest.get(expression)
      if (value.isEmpty && expressions.get(key).contains(expression)) throw Used.noValue(expression)
      value
    }
}

private[sparkconfig] object StartPlan {
  private[driver] val OwnPrefix = "spark.config."

  /**
   * Resolves and checks everything.
   *
   * @throws SparkConfigException listing every problem: those of the brain and those that only the JVM can see
   */
  def check(conf: SparkConf, client: AgentClient): StartPlan = {
    val answer = client.resolveConfs()
    val expanded = answer.expressions.toSeq.sortBy(_._1).collect {
      case (key, expression)
          if SparkAccess.isRegistered(key) && answer.snapshot.get(expression).exists(_.contains("${")) =>
        s"$key: the value of ${expression.text} contains '$${', which Spark would expand inside a value of this " +
          "conf. Change the secret, or pass it through an option or a conf that Spark does not register."
    }
    val problems = answer.problems ++ expanded ++ RpcProtection.problem(conf, client.settings.rpcInsecure) ++
      SinglePass.problem(conf.get(_, _))
    if (problems.nonEmpty) throw new SparkConfigException(report(problems))
    RpcProtection.warn(conf, client.settings.rpcInsecure)
    val inPlace = answer.inPlace.toSeq.flatMap { key =>
      answer.expressions.get(key).flatMap(answer.snapshot.get).map(key -> _)
    }.toMap
    new StartPlan(
      answer.snapshot,
      answer.expressions -- inPlace.keys,
      inPlace,
      answer.policy,
      answer.connections,
      answer.dropped)
  }

  private def report(problems: Seq[String]): String = {
    val count = if (problems.size == 1) "1 problem" else s"${problems.size} problems"
    problems.mkString(s"sparkconfig found $count, and the application does not start:\n  - ", "\n  - ", "")
  }
}
