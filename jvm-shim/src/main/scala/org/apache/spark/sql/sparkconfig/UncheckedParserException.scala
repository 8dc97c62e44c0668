package org.apache.spark.sql.sparkconfig

import java.util

import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.{QueryContext, SparkThrowable}

/**
 * What a parser throws although its interface does not declare it, such as SqlScriptingException: a proxy would let
 * through an UndeclaredThrowableException without any text. Condition, parameters and message come from the cause.
 */
final class UncheckedParserException private (cause: Throwable, described: SparkThrowable)
  extends RuntimeException(cause.getMessage, cause) with SparkThrowable {

  setStackTrace(cause.getStackTrace)

  override def getErrorClass: String = described.getErrorClass
  def getCondition: String = described.getErrorClass // 3.5 has none
  override def getSqlState: String = described.getSqlState
  override def getMessageParameters: util.Map[String, String] = described.getMessageParameters
  override def getQueryContext: Array[QueryContext] = described.getQueryContext
}

object UncheckedParserException {

  /** The failure itself where a parser may throw it, else one that says the same. */
  def of(failure: Throwable): Throwable = failure match {
    case free @ (_: RuntimeException | _: Error | _: ParseException) => free
    case described: SparkThrowable => new UncheckedParserException(failure, described)
    case other => new RuntimeException(other.getMessage, other)
  }
}
