package io.sparkconfig.policy

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.command.{DescribeFunctionCommand, RunnableCommand, ShowTablePropertiesCommand}
import org.apache.spark.unsafe.types.UTF8String

/**
 * A view and a function in SQL keep the confs of the session that makes them, and Spark shows these to everybody. What
 * the policy does not show stays hidden there, too.
 */
private[sparkconfig] object KeptConfs {

  /** How Spark calls a kept conf among the properties of a view, and of a function. */
  private val Kept = raw"(?:view\.)?sqlConfig\.(.+)".r

  /** As JSON has a conf, whose name may have such a word before it, and as DESCRIBE FUNCTION has it, on a line. */
  private val Pair = ("""("(?:(?:view\.)?sqlConfig\.)?(spark\.[^"\\]+)"\s*:\s*")(?:[^"\\]++|\\.)*+""" +
    """|((?:^|\n)(?:Configs:)?\s+(spark\.[^=\s]+)=)[^\n]*""").r

  /** Whether a command may show some that the policy hides; without a policy it stays as it is. */
  def areIn(command: RunnableCommand): Boolean = PolicyClient.running.isDefined && (command match {
    case _: ShowTablePropertiesCommand | _: DescribeFunctionCommand => true
    // Not by its class: earlier Sparks have none.
    case other => other.getClass.getSimpleName == "DescribeRelationJsonCommand"
  })

  /** The rows of such a command. */
  def masked(command: RunnableCommand, rows: Seq[Row]): Seq[Row] = command match {
    // A column for the key comes first, unless a legacy conf leaves it out.
    case show: ShowTablePropertiesCommand => rows.map { row =>
        show.propertyKey.getOrElse(row.getString(0)) match {
          case Kept(key) if ShownConfs.hides(key) => Row.fromSeq(row.toSeq.init :+ ShownConfs.Hidden)
          case _ => row
        }
      }
    case _ => rows.map(row => Row.fromSeq(row.toSeq.map { case text: String => masked(text); case other => other }))
  }

  /** A text that describes a view or a function. */
  def masked(text: String): String = Pair.replaceAllIn(
    text,
    found => {
      val (before, key) = (Seq(1, 3).map(found.group).find(_ != null), Seq(2, 4).map(found.group).find(_ != null))
      val isHidden = ShownConfs.hides(key.get)
      java.util.regex.Matcher.quoteReplacement(if (isHidden) before.get + ShownConfs.Hidden else found.matched)
    })

  /** A Connect client gets the catalog's functions as a relation, on which it may compute. */
  object OfFunctions extends Rule[LogicalPlan] {
    private val Columns = Seq("name", "catalog", "namespace", "description", "className", "isTemporary")
    private val At = Columns.indexOf("description")

    override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
      case functions: LocalRelation if functions.output.map(_.name) == Columns =>
        val types = functions.output.map(_.dataType)
        val rows = functions.data.map { row =>
          if (row.isNullAt(At)) row
          else {
            val text = UTF8String.fromString(masked(row.getUTF8String(At).toString))
            new GenericInternalRow(row.toSeq(types).updated(At, text).toArray)
          }
        }
        // Not by its constructor, which has more arguments in later Sparks.
        functions.makeCopy(functions.productIterator.map {
          case data: Seq[_] if data eq functions.data => rows
          case other => other.asInstanceOf[AnyRef]
        }.toArray)
    }
  }
}
