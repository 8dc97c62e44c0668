package org.apache.spark.sql.sparkconfig

import org.apache.spark.sql.AnalysisException

/**
 * A policy refuses what a statement wants to set. As a subclass it reaches PySpark and Connect clients as their
 * AnalysisException. It has a condition of Spark's own whose text is the message, since SQL scripts fail at errors
 * that have none.
 *
 * @param message names properties and rules, never a value
 */
class PolicyViolationException(message: String)
  extends AnalysisException(
    message,
    None,
    None,
    None,
    Some("USER_RAISED_EXCEPTION"),
    Map("errorMessage" -> message),
    Array.empty) {

  /** What clients show beside the message. */
  override def getSqlState: String = PolicyViolationException.SqlState
}

object PolicyViolationException {

  /** SQL's "insufficient privilege". */
  val SqlState = "42501"
}
