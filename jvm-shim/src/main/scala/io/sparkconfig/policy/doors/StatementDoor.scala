package io.sparkconfig.policy.doors

import scala.util.Try

import io.sparkconfig.policy.StatementItem.{Read, statement}
import io.sparkconfig.policy.{PolicyClient, Requester, StatementItem}
import org.apache.hadoop.conf.Configuration
import org.apache.spark.SparkContext
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.command.SetCommand
import org.apache.spark.sql.sparkconfig.{OwnCaches, ParserHook, Sessions, SqlVariables}

/** Statements as they were parsed, before Spark evaluates or opens anything. */
private final class StatementRule(session: Sessions.Spark) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = {
    StatementDoor.asked.foreach { policies =>
      if (!OwnCaches.isIn(session) && Requester.isClient(session)) OwnCaches.put(session)
      // Spark looks for the class in a conf before it sets it, and its error tells whether it is there.
      plan.foreach {
        case SetCommand(Some((key, Some(text)))) => SessionDoor.setting(session, key, text)
        case _ => ()
      }
      val walk = new StatementWalk(StatementDoor.conf(session), isDirect, unlisted)
      walk.plan(plan)
      policies.statement(walk.items)
      // References are mere text there: no value is put in their place.
      walk.calledOptions.foreach { case (format, texts) =>
        val escaped = texts.map { case (key, text) => key -> text.replace("${", "$${") }
        OptionsDoor.check(policies, OptionsDoor.Source, escaped, formats = Seq(format))
      }
    }
    plan
  }

  /** Functions of extensions count as built in; those of the catalog were made by a statement that was judged. */
  private def unlisted(function: String): Option[String] =
    Try(Sessions.catalog(session).lookupFunctionInfo(FunctionIdentifier(function))).toOption
      .filter(_.getSource == "built-in").map(_.getClassName)

  /**
   * Spark looks for a table of that name first. Whether there is one is not asked here: it may be in a catalog that is
   * not the current one, or gone by the time that Spark looks. With its catalog's name it is a table alone.
   */
  private def isDirect(parts: Seq[String]): Boolean = parts.size == 2 && SourceNames.exists(parts.head)
}

/**
 * Post-hoc resolution: the classes of what Spark made of a statement, functions of extensions among them, and the texts
 * of which it makes code.
 */
private object ClassesRule extends Rule[LogicalPlan] {
  private val NoConf = new Configuration(false)

  override def apply(plan: LogicalPlan): LogicalPlan = {
    StatementDoor.asked.foreach { policies =>
      val walk = new StatementWalk(NoConf, _ => false)
      val texts = Set.newBuilder[StatementItem]
      OptionsDoor.fresh(plan) { node =>
        walk.list(node)
        node.expressions.foreach(_.foreach(walk.list))
        texts ++= CodeTexts.of(node.expressions)
      }
      policies.statement(walk.items ++ texts.result())
    }
    plan
  }
}

/** Which statements run, and what they name: rules about statements, functions, paths and data sources. */
private[sparkconfig] object StatementDoor extends Door {
  override def name: String = "statements"

  override def asks: Seq[Asked] = Seq(
    Asked(
      "statements, and the functions, paths and data sources that they name",
      "before they are analysed",
      "the same",
      "SQL: before it is analysed"),
    Asked(
      "`${env:…}` and `${system:…}` in SQL text",
      "before the text is parsed",
      "the same",
      "before the text is parsed"))

  override def open(sc: SparkContext): Unit = asked.foreach { policies =>
    SqlSurface.open(policies.surface)
    SqlVariables.bound()
    DefaultsRule.guard()
  }

  override def open(session: SparkSessionExtensions): Unit = {
    FirstRules.injectEach(session)(new StatementRule(_))
    session.injectResolutionRule(_ => ColumnDefaultOfTargetRule)
    session.injectPostHocResolutionRule(_ => ColumnDefaultRule)
    session.injectPostHocResolutionRule(_ => ClassesRule)
    session.injectColumnar(_ => CodeTextsRule)
    session.injectParser((_, parser) => ParserHook.texts(parser, ParserRefusal.of[String](checkText)))
    session.injectParser((_, parser) => ParserHook.expressions(parser, ParserRefusal.of[Expression](checkStored)))
    session.injectParser((spark, parser) =>
      ParserHook.names(parser, ParserRefusal.of[Seq[String]](checkName(spark, _))))
  }

  /** The policies, if any rule is about statements. */
  def asked: Option[PolicyClient] = PolicyClient.running.filter(_.evaluatesStatements)

  def conf(session: Sessions.Spark): Configuration = {
    val spark = Sessions.classic(session)
    val own = Option(spark.sessionState.conf.getConfString("fs.defaultFS", null))
    own.fold(spark.sparkContext.hadoopConfiguration) { text =>
      val conf = new Configuration(spark.sparkContext.hadoopConfiguration)
      conf.set("fs.defaultFS", text)
      conf
    }
  }

  /** A name may be a path, too. Whoever asks for it says what it does there. */
  private def checkName(session: Sessions.Spark, parts: Seq[String]): Unit =
    if (parts.exists(_.exists("./\\%".contains(_)))) asked.foreach { policies =>
      val walk = new StatementWalk(conf(session), _ => false)
      walk.name(parts, Seq(Read))
      policies.statement(walk.items)
    }

  private def checkStored(tree: Expression): Unit = if (CodeTexts.inDelta(tree)) asked.foreach { policies =>
    policies.statement(Set(statement("generated-code", "delta.constraints.CheckDeltaInvariant.columnExtractors")))
  }

  private def checkText(text: String): Unit = asked.foreach { policies =>
    val variables = SqlVariables.ofServer(text, ServerConfs.read().contains(_))
    policies.statement(variables.map(statement("variable", _)) ++ nesting(text))
  }

  /** For what is nested more deeply Spark's parser takes minutes, and memory that it keeps. */
  private val Deepest = 200

  /** What is asked about a text that Spark may parse: SQL, and a literal or an option that it takes for a type. */
  def nesting(text: String): Set[StatementItem] =
    Set(statement("nesting", s"more than $Deepest levels")).filter(_ =>
      isDeep(text) || JsonTokens.exists(text)((_, inner) => inner.exists(isDeep)).contains(true))

  /** Whether comments, brackets or types are nested too deeply, or look like it. `<` alone is a comparison. */
  private def isDeep(text: String): Boolean = depth(text, "/*", "*/") > Deepest || depth(text, "(", ")") > Deepest ||
    depth(text, "<", ">") > Deepest && depth(text.reverse, ">", "<") > Deepest

  private def depth(text: String, open: String, close: String): Int = {
    var most, now, at = 0
    while (at < text.length) {
      if (text.startsWith(open, at)) { now += 1; at += open.length }
      else { if (now > 0 && text.startsWith(close, at)) now -= 1; at += 1 }
      most = math.max(most, now)
    }
    most
  }
}
