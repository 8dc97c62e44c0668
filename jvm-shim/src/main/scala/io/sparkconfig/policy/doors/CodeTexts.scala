package io.sparkconfig.policy.doors

import io.sparkconfig.policy.StatementItem
import io.sparkconfig.policy.StatementItem.statement
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, ScalaUDF, Unevaluable}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}

/**
 * Texts that Spark may write into the Java code that it generates, without escaping them: the name of a lambda's
 * parameter into a comment, the unit of `timestampadd` between quotes. A text that could end either is refused, unless
 * a surface file says of its argument that it is not written there.
 */
private[doors] object CodeTexts {

  /** What ends a literal, a comment or a line of Java; the compiler reads `\u002a` as a `*` before it looks for any. */
  private val Ends = "[\"\\\\\\p{Cntrl}]|\\*/|/\\*".r.pattern

  def of(trees: Iterable[Expression]): Set[StatementItem] = {
    val found = Set.newBuilder[StatementItem]
    trees.foreach(_.foreach(each => argument(each).foreach(name => found += statement("generated-code", name))))
    found.result()
  }

  /** The argument with such a text. What cannot be evaluated has no code of its own. */
  private def argument(tree: Expression): Option[String] = tree match {
    case _: Literal | _: Unevaluable => None
    // Its code names the types of what it is called with, and so the fields of structs.
    case udf: ScalaUDF if (udf +: udf.children).exists(each => ends(each.dataType.catalogString)) =>
      Some("ScalaUDF.dataType")
    case other if other.productIterator.exists(ends) =>
      val name = Kinds.of(other.getClass).name
      val arguments = Arguments.of(other.asInstanceOf[Product]).filter(each => ends(each._2)).map(_._1)
      (if (arguments.isEmpty) Seq("?") else arguments).map(each => s"$name.$each")
        .find(each => SqlSurface.of(s"text $each").isEmpty)
    case _ => None
  }

  /**
   * Whether Delta reads a table's constraint or generated column that names a column by such a text: it writes that
   * name between quotes, into code that it makes after the last plan that rules see. Elsewhere columns may have such
   * names.
   */
  def inDelta(tree: Expression): Boolean =
    tree.exists {
      case column: UnresolvedAttribute => ends(column.nameParts)
      case _ => false
    } && StackWalker.getInstance().walk[java.lang.Boolean](_.anyMatch(_.getClassName.startsWith(Delta)))

  private val Delta = "org.apache.spark.sql.delta."

  private def ends(value: Any): Boolean = value match {
    case text: String => Ends.matcher(text).find()
    case Some(inner) => ends(inner)
    case map: scala.collection.Map[_, _] => map.keysIterator.exists(ends)
    case all: Iterable[_] => all.exists(ends)
    case (first, second) => ends(first) || ends(second)
    case _ => false
  }
}

/** The last point before code is generated: plans that were made without the doors, and what the optimizer made. */
private[doors] object CodeTextsRule extends ColumnarRule {
  override def preColumnarTransitions: Rule[SparkPlan] = LastPlan

  private object LastPlan extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = {
      StatementDoor.asked.foreach { policies =>
        val found = plan.collect { case node => CodeTexts.of(node.expressions) }.flatten.toSet
        if (found.nonEmpty) policies.statement(found)
      }
      plan
    }
  }
}
