package org.apache.spark.sql.sparkconfig

import scala.util.Try

import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.sql.AnalysisException
import org.apache.spark.{ErrorClassesJsonReader, SparkThrowableHelper}

/**
 * A policy refuses what a statement wants to set. As a subclass it reaches PySpark and Connect clients as their
 * AnalysisException. It has a condition whose text is the message, since SQL scripts fail at errors that have none.
 *
 * @param message names properties and rules, never a value
 */
class PolicyViolationException(message: String)
  extends AnalysisException(
    message,
    None,
    None,
    None,
    Some(PolicyViolationException.Condition),
    Map("errorMessage" -> message),
    Array.empty) {

  /** What clients show beside the message. */
  override def getSqlState: String = PolicyViolationException.SqlState
}

object PolicyViolationException {

  /** SQL's "insufficient privilege". */
  val SqlState = "42501"

  /**
   * The condition of refusals, added to those that Spark knows: Spark copies the condition alone when it makes an error
   * of its own out of another, and looks the state up by it.
   */
  lazy val Condition: String = Try {
    val conditions = SparkThrowableHelper.errorReader
    val own = new ErrorClassesJsonReader(Seq(getClass.getResource("/io/sparkconfig/conditions.json")))
    Reflect.field(classOf[ErrorClassesJsonReader], "errorInfoMap")
      .set(conditions, conditions.errorInfoMap ++ own.errorInfoMap)
    own.errorInfoMap.head._1
  }.getOrElse("USER_RAISED_EXCEPTION")
}
