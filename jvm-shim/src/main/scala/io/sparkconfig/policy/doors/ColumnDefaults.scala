package io.sparkconfig.policy.doors

import java.util.Locale

import scala.util.Try

import io.sparkconfig.policy.StatementItem.statement
import org.apache.hadoop.conf.Configuration
import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.sql.catalyst.analysis.{Analyzer, ResolvedTable, UnresolvedAttribute, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, Literal, PlanExpression}
import org.apache.spark.sql.catalyst.parser.{AstBuilder, CatalystSqlParser, SqlBaseParser}
import org.apache.spark.sql.catalyst.plans.logical.{InsertIntoStatement, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumns
import org.apache.spark.sql.types.{ArrayType, DataType, MapType, Metadata, StructType, UserDefinedType}

/**
 * Default values of columns. A column's metadata holds them as SQL, which Spark analyses and evaluates with an analyzer
 * of its own, where no rule of a session runs. So they hold constants and a few functions without arguments, wherever
 * the schema comes from: a statement, a message, the footer of a file, a table's log.
 */
private[doors] object ColumnDefaults {
  val Refused: String = "column-default"

  /** Whether a schema has a default that is more than a constant. */
  def isOpen(kind: DataType): Boolean = kind match {
    case struct: StructType => struct.fields.exists(field => isOpen(field.metadata) || isOpen(field.dataType))
    case array: ArrayType => isOpen(array.elementType)
    case map: MapType => isOpen(map.keyType) || isOpen(map.valueType)
    case own: UserDefinedType[_] => isOpen(own.sqlType)
    case _ => false
  }

  def isOpen(metadata: Metadata): Boolean = metadata != Metadata.empty &&
    entries.get(metadata).asInstanceOf[Map[String, Any]].exists {
      case (key, text: String) => isOpen(key, text)
      case (key, _) => SqlSurface.metadata.of(key).exists(_.kind.startsWith("asks:"))
    }

  /** Whether a key of a schema's metadata is SQL that may do more than it should, or one that no file knows. */
  private def isOpen(key: String, text: String): Boolean = SqlSurface.metadata.of(key).map(_.kind) match {
    case Some("asks:default") => isOpenText(text)
    case Some("asks:expression") => isOpenExpression(text)
    case Some("refused") => true
    // Spark parses a type's text there, too.
    case _ => StatementDoor.nesting(text).nonEmpty
  }

  private val noConf = new Configuration(false)
  private lazy val entries = Reflect.field(classOf[Metadata], "map")

  /** SQL that is evaluated as an expression like any other, but for subqueries. */
  private def isOpenExpression(sql: String): Boolean = {
    val walk = new StatementWalk(noConf, _ => true, Some(_))
    StatementDoor.nesting(sql).nonEmpty || Try(CatalystSqlParser.parseExpression(sql)).toOption.forall { tree =>
      tree.exists(_.isInstanceOf[PlanExpression[_]]) || walk.finds(tree)
    }
  }

  /** Whether a default that is written as SQL is more than a constant. */
  def isOpenText(sql: String): Boolean =
    sql != null && (StatementDoor.nesting(sql).nonEmpty ||
      !Try(CatalystSqlParser.parseExpression(sql)).toOption.exists(isConstant))

  def isConstant(tree: Expression): Boolean = tree match {
    case call: UnresolvedFunction =>
      isListed(call.nameParts.mkString(".").toLowerCase(Locale.ROOT)) && call.arguments.forall(isConstant)
    case name: UnresolvedAttribute => isListed(name.nameParts.mkString(".").toLowerCase(Locale.ROOT))
    case other => isListed(Kinds.of(other.getClass).name) && other.children.forall(isConstant)
  }

  private def isListed(name: String): Boolean = SqlSurface.of(s"default $name").isDefined

  /** Whether a relation has a column with such a default. */
  def inOutput(relation: LogicalPlan): Boolean = Try(relation.output).toOption.exists(_.exists(column =>
    isOpen(column.metadata) || isOpen(column.dataType)))

  /** Whether a text is a schema as JSON, or a part of one, with such a default. A key may stand there twice. */
  def inJson(text: String): Boolean =
    (text.contains("\"metadata\"") || text.contains("_DEFAULT") || text.contains("\\u")) &&
      JsonTokens.exists(text) { (key, value) =>
        value.fold(SqlSurface.metadata.of(key).exists(_.kind.startsWith("asks:")))(isOpen(key, _))
      }
        // No JSON, so no schema either, unless another reader is more patient.
        .getOrElse(text.contains("{") && Seq("CURRENT_DEFAULT", "EXISTS_DEFAULT", "\\u").exists(text.contains))
}

/**
 * The last point, wherever a default comes from: among the first rules of Spark's analyzer of defaults, and in the
 * parser with which Spark reads the constants that it has written itself. So also where no rule of a session has seen
 * the table, such as in DESCRIBE, or with the schema of a table's log.
 */
private[doors] object DefaultsRule extends Rule[LogicalPlan] {
  def guard(): Unit = {
    Reflect.field(classOf[Analyzer], FirstRules.ofAnalyzer).set(ResolveDefaultColumns.DefaultColumnAnalyzer, List(this))
    Reflect.field(classOf[CatalystSqlParser], "astBuilder").set(CatalystSqlParser, new Reader)
  }

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan.expressions.foreach {
      case Alias(tree, _) => check(tree)
      case other => check(other)
    }
    plan
  }

  /** Spark would put an error of its own in the place of an AnalysisException. */
  private val check = ParserRefusal.of[Expression] { tree =>
    StatementDoor.asked.filterNot(_ => ColumnDefaults.isConstant(tree))
      .foreach(_.statement(Set(statement(ColumnDefaults.Refused))))
  }

  private final class Reader extends AstBuilder {
    override def visitSingleExpression(text: SqlBaseParser.SingleExpressionContext): Expression = {
      val tree = super.visitSingleExpression(text)
      if (isConstants) check(tree)
      tree
    }
  }

  private def isConstants: Boolean = StackWalker.getInstance().walk[Boolean](_.anyMatch(frame =>
    frame.getMethodName == "fromSQL" && frame.getClassName.startsWith(classOf[Literal].getName)))
}

/** Post-hoc resolution: the types of everything that a plan reads or makes. */
private[doors] object ColumnDefaultRule extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = {
    // A table alone is only looked up, as Spark's lists of the catalog do with each: one must not hinder the others.
    if (!plan.isInstanceOf[ResolvedTable]) StatementDoor.asked.foreach { policies =>
      OptionsDoor.fresh(plan) { node =>
        if (isOpen(node)) policies.statement(Set(statement(ColumnDefaults.Refused)))
        if (SchemaVariables.isIn(node))
          policies.statement(Set(statement("variable", "the name or comment of a column")))
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
