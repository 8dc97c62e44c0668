package io.sparkconfig.bindings.sources

import io.sparkconfig.core.{Expression, Fingerprint}
import io.sparkconfig.policy.PolicyClient
import io.sparkconfig.policy.doors.OptionsDoor
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sparkconfig.EagerLoad

/**
 * What a reader of 3.5 loads with.
 *
 * @param options with values
 * @param arguments of the reader's method: paths, with values
 * @param changed whether anything held a reference
 */
final class LoadOptions private (
    format: String,
    written: Map[String, String],
    val options: Map[String, String],
    val arguments: Array[AnyRef],
    val changed: Boolean)
  extends EagerLoad.Load {

  def asWritten(plan: LogicalPlan): LogicalPlan = {
    val recipe = new Recipe(format, written, schema = None, Fingerprint.of(options), isView = false)
    plan.collect(Recipe.holder).foreach(Recipe.note(_, recipe))
    StreamRelations.asWritten(plan, CaseInsensitiveMap(written))
  }
}

object LoadOptions {

  /** Where PySpark's readers call a method of theirs (`sparkconfig.spark35`). */
  def call(reader: AnyRef, method: String, arguments: Array[AnyRef]): AnyRef =
    EagerLoad.call(reader, method, arguments, apply)

  /** Asks the policies first: the source must not see what they refuse. */
  def apply(format: String, written: Map[String, String], arguments: Array[AnyRef], streaming: Boolean): LoadOptions = {
    PolicyClient.running.foreach(OptionsDoor.check(_, OptionsDoor.Source, written, streaming))
    Connections.requireNoArguments(format, written, arguments)
    val paths = if (format == "jdbc") arguments else arguments.map(resolved(format, _))
    val texts = Sources.withSessionConfs(format, written, SQLConf.get)
    val options = Sources.options(format, texts, SQLConf.get)
    val changed = (options ne texts) || !paths.zip(arguments).forall { case (a, b) => a eq b }
    new LoadOptions(format, texts, options, paths, changed)
  }

  private def resolved(format: String, argument: AnyRef): AnyRef = argument match {
    case path: String if Expression.mayHold(path) => Options.values(format, Map("path" -> path))("path")
    case paths: Seq[_] if paths.exists { case path: String => Expression.mayHold(path); case _ => false } =>
      paths.map(path => resolved(format, path.asInstanceOf[AnyRef]))
    case other => other
  }
}
