package io.sparkconfig.bindings.sources

import org.apache.spark.sql.catalyst.expressions.{Expression, GenericInternalRow, Literal}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData}
import org.apache.spark.sql.sparkconfig.OptionReferenceException
import org.apache.spark.unsafe.types.UTF8String

/**
 * `CALL`: what a procedure does with its arguments no rule knows, so that none holds a reference. It is looked at as it
 * was parsed, since Spark 4 runs a procedure while it is analysed, and connectors have plans of their own for it.
 */
private[sources] object Procedures {

  /** @throws OptionReferenceException an argument of a procedure holds a reference */
  def refuse(plan: LogicalPlan): Unit =
    if (plan.getClass.getSimpleName.contains("Call"))
      plan.productIterator.flatMap(texts).find(Options.mayHold).foreach { text =>
        throw new OptionReferenceException(
          s"An argument of CALL is '$text', and the procedure would use that text as it is: procedures read their " +
            "arguments by themselves. Leave the reference out of CALL, and put it where the procedure's connector " +
            "gets values: an option of a read or a write, or a conf of the application.")
      }

  private def texts(part: Any): Iterator[String] = part match {
    case text: String => Iterator(text)
    case text: UTF8String => Iterator(text.toString)
    case _: LogicalPlan => Iterator.empty
    case expression: Expression => expression.collect { case Literal(value, _) => value }.iterator.flatMap(texts)
    case row: GenericInternalRow => row.values.iterator.flatMap(texts)
    case array: GenericArrayData => array.array.iterator.flatMap(texts)
    case map: ArrayBasedMapData => Iterator(map.keyArray, map.valueArray).flatMap(texts)
    case items: Iterable[_] => items.iterator.flatMap(texts)
    case parts: Product => parts.productIterator.flatMap(texts)
    case _ => Iterator.empty
  }
}
