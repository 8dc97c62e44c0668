package io.sparkconfig.redaction.sinks

import java.lang.reflect.InvocationTargetException

import org.apache.spark.SparkEnv
import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.command.{ExecutedCommandExec, LeafRunnableCommand}
import org.apache.spark.sql.execution.datasources.v2.{LeafV2CommandExec, V2CommandExec}
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.sparkconfig.Sessions
import org.apache.spark.sql.{Row, SparkSessionExtensions}
import org.slf4j.LoggerFactory

/**
 * Masks values in the free text that commands answer, such as `SET`, `EXPLAIN` and `SHOW CREATE TABLE`; [[Answers]]
 * says what is free text. The rows are masked where they are made, so that Connect and Thrift clients get them like
 * that too. The nodes of the plan stay, since listeners, metrics and spark-sql look at their classes.
 */
private[sparkconfig] object CommandOutput extends ColumnarRule with Sink {
  override def name: String = "commands"

  override def masks: Seq[Masked] = Seq(
    Masked(
      "answers of commands",
      "free text: `SET`, `SET -v`, `EXPLAIN`, comments, properties, literals of statements; for every kind of client," +
        " but for what the session has set itself. See \"What stays true\"",
      "the session's start"))

  override def install: PartialFunction[Stage, Unit] = { case Stage.Session(extensions) => inject(extensions) }

  override def preColumnarTransitions: Rule[SparkPlan] = Commands

  private object Commands extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = {
      Answers.mask(plan.output.map(_.name)).foreach(mask =>
        plan match {
          case command: ExecutedCommandExec =>
            val twin = ExecutedCommandExec(command.cmd)
            answer(RunnableAnswer, command, twin.executeCollect().toSeq, SessionConfs.except(command.cmd, mask))
          case command: V2CommandExec => answer(CatalogAnswer, command, run(command), mask)
          case _ =>
        })
      plan
    }
  }

  /**
   * @throws IllegalStateException if answers cannot be masked in this Spark, unless
   *                               `spark.config.redaction.require=false`
   */
  private def inject(extensions: SparkSessionExtensions): Unit =
    try {
      RunnableAnswer
      CatalogAnswer
      extensions.injectColumnar(_ => this)
    } catch {
      case fault @ (_: IllegalStateException | _: LinkageError) =>
        val message = s"answers of commands cannot be redacted: ${fault.getMessage}"
        val required = Option(SparkEnv.get).forall(_.conf.getBoolean(EventLogListener.RequireKey, defaultValue = true))
        if (required)
          throw new IllegalStateException(s"$message. Set ${EventLogListener.RequireKey}=false to go on without it.")
        LoggerFactory.getLogger("io.sparkconfig.redaction.sinks.CommandOutput")
          .warn(s"$message; going on since ${EventLogListener.RequireKey}=false")
    }

  private def answer(field: AnswerField, command: SparkPlan, rows: => Seq[InternalRow], mask: Answers.Mask): Unit = {
    val output = command.output
    field.put(command, new LateRows(mask(rows, output)))
  }

  private def run(command: V2CommandExec): Seq[InternalRow] =
    try RunMethod.invoke(command).asInstanceOf[Seq[InternalRow]]
    catch { case e: InvocationTargetException => throw e.getCause }

  private lazy val RunMethod = Reflect.method(classOf[V2CommandExec], "run")

  private lazy val RunnableAnswer =
    new AnswerField(classOf[ExecutedCommandExec], "sideEffectResult", ExecutedCommandExec(NothingToRun()))
  private lazy val CatalogAnswer = new AnswerField(classOf[V2CommandExec], "result", NothingToAnswer())
}

/** The lazy field in which Spark's node of a command keeps its answer once it has run. */
private final class AnswerField(owner: Class[_], name: String, example: SparkPlan) {
  private val rows = Reflect.field(owner, name)
  private val bitmap = Reflect.field(owner, "bitmap$0")

  /** The bit by which Scala marks this lazy field as set: seen in an example. */
  private val bit: Byte = {
    val before = bitmap.getByte(example)
    example.executeCollect()
    (bitmap.getByte(example) & ~before).toByte
  }
  if (Integer.bitCount(bit & 0xff) != 1)
    throw new IllegalStateException(s"${owner.getName}.$name is not a lazy field in this Spark version")

  /** Sets the answer of a command that has not run. It is locked as the lazy field itself locks. */
  def put(command: SparkPlan, answer: Seq[InternalRow]): Unit = command.synchronized {
    if ((bitmap.getByte(command) & bit) == 0) {
      rows.set(command, answer)
      bitmap.setByte(command, (bitmap.getByte(command) | bit).toByte)
    }
  }
}

/** Rows that are made when somebody looks at them: when the command runs. */
private final class LateRows(make: => Seq[InternalRow]) extends scala.collection.immutable.IndexedSeq[InternalRow] {
  private lazy val rows = make.toVector
  override def length: Int = rows.length
  override def apply(i: Int): InternalRow = rows(i)
  override def iterator: Iterator[InternalRow] = rows.iterator
}

private final case class NothingToRun() extends LeafRunnableCommand {
  override def run(session: Sessions.Spark): Seq[Row] = Nil
}

private final case class NothingToAnswer() extends LeafV2CommandExec {
  override def output: Seq[Attribute] = Nil
  override protected def run(): Seq[InternalRow] = Nil
}
