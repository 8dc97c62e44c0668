package io.sparkconfig.policy.doors

import java.util.Locale

import scala.util.Try

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.{ExpressionWithUnresolvedIdentifier, UnresolvedFunction, UnresolvedHaving}
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, PlanExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, Join, LogicalPlan, Project, Sort}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.sparkconfig.Sessions

/**
 * [[ReflectionRule]] for what Spark evaluates while it analyses: `VALUES`, arguments of table functions, values of a
 * PIVOT, EXECUTE IMMEDIATE, default values of columns. Those are literals before any rule of an extension sees a
 * resolved function, so this looks at the parsed plan, and wants class and method written as literals there.
 */
private[sparkconfig] final class EarlyReflectionRule(session: Sessions.Spark) extends Rule[LogicalPlan] {
  import EarlyReflectionRule._

  override def apply(plan: LogicalPlan): LogicalPlan = {
    OptionsDoor.fresh(plan)(visit)
    plan
  }

  private def visit(node: LogicalPlan): Unit = {
    node.expressions.foreach(_.foreach {
      case call: UnresolvedFunction => check(call, isLate(node))
      case named: ExpressionWithUnresolvedIdentifier if !isLate(node) => checkNamed(named)
      // Parsed, and therefore not among the subqueries of a node that is analysed.
      case query: PlanExpression[_] => query.plan match {
          case inner: LogicalPlan => apply(inner)
          case _ => ()
        }
      case _ => ()
    })
    node.innerChildren.foreach {
      case inner: LogicalPlan => apply(inner)
      case _ => ()
    }
  }

  /** `IDENTIFIER(…)(…)`: a name that is not known yet may name such a function. */
  private def checkNamed(named: ExpressionWithUnresolvedIdentifier): Unit = {
    val name = named.identifierExpr
    val parts =
      if (name.resolved && name.foldable) Option(name.eval()).map(text =>
        Sessions.classic(session).sessionState.sqlParser.parseMultipartIdentifier(text.toString))
      else Some(Seq("reflect"))
    parts.flatMap(FunctionCalls.built(named, _)).collect { case call: UnresolvedFunction => check(call, late = false) }
  }

  private def check(call: UnresolvedFunction, late: Boolean): Unit = {
    val name = call.nameParts.last.toLowerCase(Locale.ROOT)
    val owner = call.arguments.take(2).map(literal)
    if (Builtin(name)) {
      if (!late || owner.forall(_.isDefined)) ReflectionRule.check(owner)
    } else if (!late) hiveClass(call.nameParts).filter(_.contains(ReflectionRule.HiveFunction)).foreach { found =>
      ReflectionRule.check(if (found.endsWith("2")) Nil else owner)
    }
  }

  /** The class behind a function of Hive's, if there is such a function. */
  private def hiveClass(parts: Seq[String]): Option[String] =
    Try(Sessions.catalog(session).lookupFunctionInfo(
      FunctionIdentifier(parts.last, parts.dropRight(1).lastOption)).getClassName).toOption

  private def literal(argument: Expression): Option[String] = argument match {
    case Literal(value, _) => Option(value).map(_.toString)
    case _ => None
  }
}

private object EarlyReflectionRule {
  private val Builtin = Set("reflect", "java_method", "try_reflect")

  /** Evaluated after analysis: [[ReflectionRule]] sees the resolved function. */
  private def isLate(node: LogicalPlan): Boolean = node match {
    case _: Project | _: Filter | _: Aggregate | _: Sort | _: Join | _: UnresolvedHaving => true
    case _ => false
  }
}
