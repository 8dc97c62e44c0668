package io.sparkconfig.redaction.sinks

import io.sparkconfig.redaction.engine.{Client, Redactor}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.command._
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.sparkconfig.{ParserHook, Sessions, SqlVariables}
import org.apache.spark.sql.{Row, SparkSessionExtensions}

/**
 * Masks values in what `SET` and `EXPLAIN` answer, see [[Answers]]. The rows are masked where they are made, so that
 * Connect and Thrift clients get them like that too.
 */
private[sparkconfig] object CommandOutput extends ColumnarRule with Sink {
  override def name: String = "commands"

  override def install: PartialFunction[Stage, Unit] = { case Stage.Session(extensions) => inject(extensions) }

  override def preColumnarTransitions: Rule[SparkPlan] = Commands

  private object Commands extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = plan match {
      case ExecutedCommandExec(command @ (_: SetCommand | _: ResetCommand | _: ExplainCommand)) =>
        ExecutedCommandExec(MaskedCommand(command))
      case _ => plan
    }
  }

  private def inject(extensions: SparkSessionExtensions): Unit = {
    extensions.injectColumnar(_ => this)
    extensions.injectParser((_, parser) => ParserHook.texts(parser, noteVariables))
  }

  private def noteVariables(statement: String): Unit =
    if (!Redactor.isEmpty && Redactor.contains(SqlVariables.values(statement), Client.Unknown)) Client.mix(statement)
}

/** Shown as the command itself. */
private[sparkconfig] final case class MaskedCommand(command: RunnableCommand) extends LeafRunnableCommand {
  override def output: Seq[Attribute] = command.output
  override def nodeName: String = command.nodeName
  override def argString(maxFields: Int): String = command.argString(maxFields)
  override def run(session: Sessions.Spark): Seq[Row] = Answers.masked(command, command.run(session))
}
