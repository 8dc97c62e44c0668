package io.sparkconfig.policy.doors

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}

/**
 * Types that a statement writes as a text. As JSON they may name a class of the server, whose constructor runs when
 * Spark reads the text. What is neither a literal nor a schema that Spark infers could become such a text.
 */
private[doors] object TypeTexts {

  /** Whether an argument that is a type could name a class. */
  def isOpen(argument: Expression): Boolean = argument match {
    case _: Literal => false // it is looked at by itself
    case other => FunctionCalls.of(other) match {
        case Some(call) => !call.name.startsWith("schema_of_") || FunctionCalls.builtIn(other).isEmpty
        // The values of parameters are literals of the same statement.
        case None => !Kinds.of(other.getClass).verdict.exists(_.kind == "reads:named")
      }
  }

  /** Whether a text is a type as JSON that names a class. */
  def holdsUdt(text: String): Boolean =
    (text.contains("\"type\"") || text.contains("\\u")) &&
      JsonTokens.exists(text)((key, value) => key == "type" && value.contains("udt"))
        .getOrElse(text.contains("{") && Seq("udt", "\\u").exists(text.contains))
}
