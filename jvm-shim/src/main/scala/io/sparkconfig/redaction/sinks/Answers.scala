package io.sparkconfig.redaction.sinks

import scala.util.Try

import io.sparkconfig.policy.{KeptConfs, Requester, ShownConfs}
import io.sparkconfig.redaction.engine.{Client, Redactor}
import org.apache.spark.sql.catalyst.expressions.{InSet, Literal}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.CommandExecutionMode
import org.apache.spark.sql.execution.command.{ExplainCommand, ResetCommand, RunnableCommand, SetCommand}
import org.apache.spark.sql.sparkconfig.Sessions
import org.apache.spark.sql.{Row, SparkSession}

/**
 * What commands answer of the server's own: the values of confs that the session has not set itself, and plans. All
 * else is from a catalog, and was written there by one who had it.
 */
private[sinks] object Answers {

  /** The rows of a command that has run. */
  def masked(command: RunnableCommand, rows: Seq[Row]): Seq[Row] = command match {
    case SetCommand(pair) =>
      val session = OwnConfs.current
      for {
        own <- session
        (key, value) <- pair
        text <- value
        // As the client wrote it: Spark's variable substitution may have brought a secret into the value.
        written <- command.origin.sqlText.flatMap(OwnConfs.setBy)
        if written._1 == key && written._2.trim == text.trim
      } OwnConfs.note(own, key, text)
      changed(rows, 1)((row, text) =>
        if (session.exists(OwnConfs.knows(_, row.getString(0), text))) text
        else if (ShownConfs.hides(row.getString(0))) ShownConfs.Hidden
        else Redactor.redact(text, Client.Unknown))
    case reset: ResetCommand =>
      OwnConfs.current.foreach(OwnConfs.forget(_, reset.config))
      rows
    case explain: ExplainCommand =>
      val reader = client(explain)
      changed(rows, 0)((_, text) => Redactor.redact(text, reader))
    case _ if KeptConfs.areIn(command) => KeptConfs.masked(command, rows)
    case _ => rows
  }

  /** This application's own code does not count as a client. */
  private def client(explain: ExplainCommand): Client =
    if (!SparkSession.getActiveSession.exists(Requester.isClient)) Client.Unknown
    else new Client(explain.origin.sqlText.toSeq ++ literals(explain.logicalPlan))

  /** The constants of the plan, those that Spark has computed too: of the statement, or of a view that it may read. */
  private def literals(plan: LogicalPlan): Seq[String] = Try {
    val session = Sessions.classic(SparkSession.getActiveSession.get)
    session.sessionState.executePlan(plan, CommandExecutionMode.SKIP).optimizedPlan.collect { case node =>
      node.expressions.flatMap(_.collect {
        case constant: Literal => constant.toString
        case set: InSet => set.toString
      })
    }.flatten
  }.getOrElse(Nil)

  private def changed(rows: Seq[Row], at: Int)(mask: (Row, String) => String): Seq[Row] = rows.map { row =>
    val text = row.getString(at)
    val safe = if (text == null) text else mask(row, text)
    if (safe eq text) row else Row.fromSeq(row.toSeq.updated(at, safe))
  }
}
