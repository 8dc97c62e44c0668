package io.sparkconfig.policy.doors

import java.util.Locale

import scala.util.Try

import com.fasterxml.jackson.core.{JsonFactory, JsonToken}
import io.sparkconfig.policy.StatementItem.statement
import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions.{Cast, Expression, Literal, UnaryMinus, UnaryPositive}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.{InsertIntoStatement, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.types.{ArrayType, DataType, MapType, Metadata, StructType, UserDefinedType}

/**
 * Default values of columns. A column's metadata holds them as SQL, which Spark analyses and evaluates with an analyzer
 * of its own, where no rule of a session runs. So they hold constants and a few functions without arguments, wherever
 * the schema comes from: a statement, a message, the footer of a file, a table's log.
 */
private[doors] object ColumnDefaults {
  private val Keys = Set("CURRENT_DEFAULT", "EXISTS_DEFAULT")

  /** Functions that build a constant, or tell the time and the user. */
  private val Functions = Set(
    "array",
    "map",
    "struct",
    "named_struct",
    "current_date",
    "current_timestamp",
    "current_timezone",
    "current_time",
    "current_user",
    "curdate",
    "localtimestamp",
    "now",
    "session_user",
    "user",
    "uuid")

  /** What the parser makes of some of these, and of a collated text. */
  private val Constants =
    Set(
      "CurrentDate",
      "CurrentTimestamp",
      "CurrentUser",
      "CurrentTime",
      "LocalTimestamp",
      "Now",
      "Collate",
      "UnresolvedCollation",
      "ResolvedCollation")

  val Refused: String = "column-default"

  /** Whether a schema has a default that is more than a constant. */
  def isOpen(kind: DataType): Boolean = kind match {
    case struct: StructType => struct.fields.exists(field => isOpen(field.metadata) || isOpen(field.dataType))
    case array: ArrayType => isOpen(array.elementType)
    case map: MapType => isOpen(map.keyType) || isOpen(map.valueType)
    case own: UserDefinedType[_] => isOpen(own.sqlType)
    case _ => false
  }

  def isOpen(metadata: Metadata): Boolean =
    Keys.exists(key => metadata.contains(key) && Try(metadata.getString(key)).toOption.forall(isOpenText(_)))

  /** Whether a default that is written as SQL is more than a constant. */
  def isOpenText(sql: String): Boolean =
    sql != null && !Try(CatalystSqlParser.parseExpression(sql)).toOption.exists(isConstant)

  def isConstant(tree: Expression): Boolean = tree match {
    case _: Literal => true
    case _: Cast | _: UnaryMinus | _: UnaryPositive => tree.children.forall(isConstant)
    case call: UnresolvedFunction =>
      Functions(call.nameParts.mkString(".").toLowerCase(Locale.ROOT)) && call.arguments.forall(isConstant)
    case name: UnresolvedAttribute => Functions(name.nameParts.mkString(".").toLowerCase(Locale.ROOT))
    case other => Constants(other.getClass.getSimpleName) && other.children.forall(isConstant)
  }

  /** Whether a relation has a column with such a default. */
  def inOutput(relation: LogicalPlan): Boolean = Try(relation.output).toOption.exists(_.exists(column =>
    isOpen(column.metadata) || isOpen(column.dataType)))

  private val json = new JsonFactory()

  /** Whether a text is a schema as JSON, or a part of one, with such a default. A key may stand there twice. */
  def inJson(text: String): Boolean =
    (text.contains("_DEFAULT") || text.contains("\\u")) && {
      val parser = json.createParser(text)
      try {
        var key: Option[String] = None
        var found = false
        var token = parser.nextToken()
        while (token != null && !found) {
          if (token == JsonToken.FIELD_NAME) key = Some(parser.currentName).filter(Keys)
          else {
            found = key.isDefined && (token != JsonToken.VALUE_STRING || isOpenText(parser.getText))
            key = None
          }
          token = parser.nextToken()
        }
        found
      } catch {
        // No JSON, so no schema either, unless another reader is more patient.
        case _: java.io.IOException => Keys.exists(key => text.contains("\"" + key)) || text.contains("\\u")
      } finally parser.close()
    }
}

/** Post-hoc resolution: the types of everything that a plan reads or makes. */
private[doors] object ColumnDefaultRule extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = {
    StatementDoor.asked.foreach { policies =>
      OptionsDoor.fresh(plan) { node =>
        if (isOpen(node)) policies.statement(Set(statement(ColumnDefaults.Refused)))
      }
    }
    plan
  }

  private def isOpen(node: LogicalPlan): Boolean =
    node.children.isEmpty && ColumnDefaults.inOutput(node) ||
      node.expressions.exists(_.exists { each =>
        each.resolved && Try(each.dataType).toOption.exists(ColumnDefaults.isOpen(_)) ||
        each.productIterator.exists { case kind: DataType => ColumnDefaults.isOpen(kind); case _ => false }
      })
}

/**
 * Resolution: the table that an INSERT goes to. Spark evaluates the defaults of columns that are left out as soon as
 * the table is known, before any rule after the resolution. The table's schema may be that of a file.
 */
private[doors] object ColumnDefaultOfTargetRule extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = {
    StatementDoor.asked.foreach { policies =>
      OptionsDoor.fresh(plan) {
        case insert: InsertIntoStatement if insert.table.exists(ColumnDefaults.inOutput) =>
          policies.statement(Set(statement(ColumnDefaults.Refused)))
        case _ => ()
      }
    }
    plan
  }
}
