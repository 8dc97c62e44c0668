package io.sparkconfig.policy.doors

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.sparkconfig.PolicyViolationException

/**
 * A door at the parser refuses with an error of the parser: its proxy lets no other checked one pass, and PySpark 3.5
 * knows only Spark's own.
 */
private[doors] object ParserRefusal {
  private final class PolicyParseException(message: String) extends ParseException(None, message, Origin(), Origin()) {
    override def getSqlState: String = PolicyViolationException.SqlState
  }

  def of[A](check: A => Unit): A => Unit = { seen =>
    try check(seen)
    catch { case e: AnalysisException => throw new PolicyParseException(e.getMessage) }
  }
}
