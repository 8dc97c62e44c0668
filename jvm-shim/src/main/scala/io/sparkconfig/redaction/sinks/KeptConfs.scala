package io.sparkconfig.redaction.sinks

import io.sparkconfig.policy.ShownConfs
import io.sparkconfig.redaction.engine.JsonStrings
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
private[sinks] object KeptConfs {

  /** How Spark calls a kept conf among the properties of a view, and of a function. */
  private val Kept = "(?s)(?:view\\.)?sqlConfig\\.(.*)".r

  /** Under this key, `DESCRIBE EXTENDED … AS JSON` shows the confs of a view by their own names. */
  private val OfView = "view_creation_spark_configuration"

  /** `DESCRIBE FUNCTION EXTENDED` has a line for each conf, and a title before the first. */
  private val Line = "(?s)((?:Configs:)?\\s+([^=\\s]+)=)(.*)".r

  def areIn(command: RunnableCommand): Boolean = command match {
    case _: ShowTablePropertiesCommand | _: DescribeFunctionCommand => true
    // Not by its class: earlier Sparks have none.
    case other => other.getClass.getSimpleName == "DescribeRelationJsonCommand"
  }

  /** @param session of the client, which sees what it has set itself */
  def masked(command: RunnableCommand, session: Option[String], rows: Seq[Row]): Seq[Row] = command match {
    case show: ShowTablePropertiesCommand =>
      // A column for the key comes first, unless a legacy conf leaves it out.
      Answers.changed(rows, at = _.length - 1)((row, value) =>
        show.propertyKey.getOrElse(row.getString(0)) match {
          case Kept(key) => shown(session, key, value)
          case _ => value
        })
    case _: DescribeFunctionCommand =>
      Answers.changed(rows, at = _ => 0)((_, line) =>
        line match {
          case Line(before, key, value) => before + shown(session, key, value)
          case _ => line
        })
    case _ => Answers.changed(rows, at = _ => 0)((_, json) => masked(json, session))
  }

  /** Of texts in which JSON stands. */
  def masked(text: String, session: Option[String]): String = {
    val safe = new java.lang.StringBuilder
    var end = 0
    JsonStrings.each(text) { (from, until, isKey, path) =>
      val value = text.substring(from, until)
      val told = path match {
        case Kept(key) :: _ if !isKey => shown(session, key, value)
        case key :: OfView :: _ if !isKey => shown(session, key, value)
        case _ => value
      }
      if (told != value) {
        safe.append(text, end, from).append(told)
        end = until
      }
    }
    if (end == 0) text else safe.append(text, end, text.length).toString
  }

  private def shown(session: Option[String], key: String, value: String): String =
    if (ShownConfs.hides(key) && !session.exists(OwnConfs.knows(_, key, value))) ShownConfs.Hidden else value

  /** A Connect client gets the catalog's functions as a relation, on which it may compute. */
  object OfFunctions extends Rule[LogicalPlan] {
    private val Columns = Seq("name", "catalog", "namespace", "description", "className", "isTemporary")
    private val At = Columns.indexOf("description")

    override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
      case functions: LocalRelation if functions.output.map(_.name) == Columns =>
        val types = functions.output.map(_.dataType)
        val session = OwnConfs.current
        val rows = functions.data.map { row =>
          if (row.isNullAt(At)) row
          else {
            val text = UTF8String.fromString(masked(row.getUTF8String(At).toString, session))
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
