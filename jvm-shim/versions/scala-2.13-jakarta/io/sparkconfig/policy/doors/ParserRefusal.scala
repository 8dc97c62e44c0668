package io.sparkconfig.policy.doors

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.sparkconfig.UncheckedParserException

/** A door at the parser refuses with an unchecked error: the parser's proxy lets no other pass. */
private[doors] object ParserRefusal {
  def of[A](check: A => Unit): A => Unit = { seen =>
    try check(seen)
    catch { case e: AnalysisException => throw UncheckedParserException.of(e) }
  }
}
