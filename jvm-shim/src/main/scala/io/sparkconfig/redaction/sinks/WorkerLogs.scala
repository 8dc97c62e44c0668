package io.sparkconfig.redaction.sinks

import io.sparkconfig.redaction.engine.{Client, Redactor}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, GenericInternalRow}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan, UnaryExecNode}
import org.apache.spark.unsafe.types.UTF8String

/** Masks values in the logs of Python workers, which Spark 4.1 and later show as the table `python_worker_logs()`. */
private[sparkconfig] object WorkerLogs extends ColumnarRule with Sink {
  override def name: String = "logs of Python workers"

  override def install: PartialFunction[Stage, Unit] = {
    case Stage.Session(extensions) => extensions.injectColumnar(_ => this)
  }

  override def preColumnarTransitions: Rule[SparkPlan] = Logs

  private object Logs extends Rule[SparkPlan] {
    // Not by its class: earlier Sparks have none.
    override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
      case logs if logs.getClass.getName == "org.apache.spark.sql.execution.python.PythonWorkerLogsExec" =>
        MaskedWorkerLogs(logs)
    }
  }
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
