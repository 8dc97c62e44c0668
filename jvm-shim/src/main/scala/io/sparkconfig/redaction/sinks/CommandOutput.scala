package io.sparkconfig.redaction.sinks

import io.sparkconfig.policy.KeptConfs
import io.sparkconfig.redaction.engine.{Client, Redactor}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, GenericInternalRow}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.command._
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan, UnaryExecNode}
import org.apache.spark.sql.sparkconfig.{ParserHook, Sessions, SqlVariables}
import org.apache.spark.sql.{Row, SparkSessionExtensions}
import org.apache.spark.unsafe.types.UTF8String

/**
 * Masks values in what commands answer, see [[Answers]], and in the logs of Python workers, which Spark 4.1 and later
 * show as the table `python_worker_logs()`: where the rows are made, so that clients of servers get them like that.
 */
private[sparkconfig] object CommandOutput extends ColumnarRule with Sink {
  override def name: String = "commands, logs of Python workers"

  override def install: PartialFunction[Stage, Unit] = { case Stage.Session(extensions) => inject(extensions) }

  override def preColumnarTransitions: Rule[SparkPlan] = Commands

  private object Commands extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = plan match {
      case ExecutedCommandExec(command @ (_: SetCommand | _: ResetCommand | _: ExplainCommand)) =>
        ExecutedCommandExec(MaskedCommand(command))
      case ExecutedCommandExec(command) if KeptConfs.areIn(command) => ExecutedCommandExec(MaskedCommand(command))
      // Not by its class: earlier Sparks have none.
      case _ => plan.transformUp {
          case logs if logs.getClass.getName == "org.apache.spark.sql.execution.python.PythonWorkerLogsExec" =>
            MaskedWorkerLogs(logs)
        }
    }
  }

  private def inject(extensions: SparkSessionExtensions): Unit = {
    extensions.injectColumnar(_ => this)
    extensions.injectParser((session, parser) =>
      // Other applications keep their own class of parser, which extensions may look for.
      if (ConnectServer.serves(session.sparkContext.getConf) || ThriftClients.serves)
        ParserHook.texts(parser, noteVariables)
      else parser)
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

/** The lines that a scan of worker logs yields, each a JSON text. */
private[sparkconfig] final case class MaskedWorkerLogs(child: SparkPlan) extends UnaryExecNode {
  override def output: Seq[Attribute] = child.output

  override protected def doExecute(): RDD[InternalRow] = {
    val types = output.map(_.dataType)
    child.execute().map { row =>
      if (Redactor.isEmpty) row
      else new GenericInternalRow(types.indices.map(i =>
        row.get(i, types(i)) match {
          case text: UTF8String => UTF8String.fromString(Redactor.redactJson(text.toString, Client.Unknown))
          case other => other
        }).toArray[Any])
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): SparkPlan = copy(child = newChild)
}
