package io.sparkconfig.policy.doors

import io.sparkconfig.policy.PolicyClient
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.expressions.{CallMethodViaReflection, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.sparkconfig.PolicyViolationException

/**
 * Post-hoc resolution, with and without policies: SQL's `reflect`, `java_method`, `try_reflect` and Hive's functions of
 * that kind call nothing of this package. It stands before Spark says which methods a class has. What they may call
 * besides is a question to the policy, which refuses on shared servers unless a rule is about it.
 */
private[doors] object ReflectionRule extends Rule[LogicalPlan] {

  /** The key that a rule names; its value is the class and the method, such as `java.lang.Math.abs`. */
  private val Key = "sparkconfig.reflect"
  private[doors] val HiveFunction = "GenericUDFReflect"
  private val HiveFunctions = "org.apache.spark.sql.hive.Hive"

  override def apply(plan: LogicalPlan): LogicalPlan = {
    OptionsDoor.fresh(plan)(_.expressions.foreach(_.foreach(visit)))
    plan
  }

  private def visit(expression: Expression): Unit = expression match {
    // `try_reflect` and `java_method` are the same underneath.
    case call: CallMethodViaReflection => check(call.children.take(2).map(known))
    // Hive's own even makes instances, so it could call what has no static form.
    case other if other.getClass.getName.startsWith(HiveFunctions) && hiveClass(other).contains(HiveFunction) =>
      // `reflect2` has an object in the place of the class: it cannot be told whose it is.
      check(if (hiveClass(other).endsWith("2")) Nil else other.children.take(2).map(known))
    case _ => ()
  }

  /** @param called the class and the method; None, or left out, where that is not known */
  private[doors] def check(called: Seq[Option[String]]): Unit = {
    val owner = called.headOption.flatten
    if (owner.forall(isOurs)) throw new PolicyViolationException(
      "reflect, java_method and try_reflect may not call sparkconfig's classes, nor a class whose name is not a " +
        "constant. Write a reference in the data source's options; values are not for SQL to read.")
    val method = called.drop(1).headOption.flatten.getOrElse("?")
    PolicyClient.running.foreach(_.check("session", owner.map(name => Key -> Option(s"$name.$method")).toMap))
  }

  private def isOurs(name: String): Boolean =
    name.contains("io.sparkconfig.") || (name.startsWith("org.apache.spark.") && name.contains(".sparkconfig."))

  /** The text of a constant; None for what differs from row to row. */
  private def known(argument: Expression): Option[String] =
    if (argument.resolved && argument.foldable) Option(argument.eval()).map(_.toString) else None

  /** The class of a function of Hive's; Spark's module for Hive need not be there. */
  private def hiveClass(function: Expression): String = function.productIterator.collectFirst {
    case wrapper: AnyRef if wrapper.getClass.getName.endsWith("HiveFunctionWrapper") =>
      wrapper.getClass.getMethod("functionClassName").invoke(wrapper).toString
  }.getOrElse("")
}

/** What SQL may call by name. */
private[doors] object ReflectionDoor extends Door {
  override def name: String = "reflect"

  override def asks: Seq[Asked] = Seq(
    Asked("SQL's `reflect`, `java_method`, `try_reflect`", "when the statement is analysed", "the same", "the same"))

  override def always: Boolean = true

  override def open(session: SparkSessionExtensions): Unit = {
    FirstRules.injectParsed(session)(new EarlyReflectionRule(_))
    session.injectPostHocResolutionRule(_ => ReflectionRule)
  }
}
