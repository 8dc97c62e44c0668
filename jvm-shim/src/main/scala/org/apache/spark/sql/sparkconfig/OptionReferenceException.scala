package org.apache.spark.sql.sparkconfig

import org.apache.spark.sql.AnalysisException

/**
 * A reference in an option cannot be used. The constructors of AnalysisException that take a text are private to
 * Spark SQL; as a subclass it reaches PySpark and Connect clients as their AnalysisException.
 * It has a condition whose text is the message, since SQL scripts and PySpark's `getMessage()` fail at
 * errors that have none.
 *
 * @param message names option, source and reference, never a value
 * @param isRefusal whether a policy has refused it
 */
class OptionReferenceException(message: String, cause: Throwable = null, isRefusal: Boolean = false)
  extends AnalysisException(
    message,
    None,
    None,
    Option(cause),
    Some(if (isRefusal) PolicyViolationException.Condition else "USER_RAISED_EXCEPTION"),
    Map("errorMessage" -> message),
    Array.empty) {

  override def getSqlState: String = if (isRefusal) PolicyViolationException.SqlState else super.getSqlState
}
