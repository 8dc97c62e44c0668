package io.sparkconfig.policy.doors

import io.sparkconfig.core.PolicyRefusedException
import org.apache.spark.sql.AnalysisException

/** A door at the parser refuses with an unchecked error: the parser's proxy lets no other pass. */
private[doors] object ParserRefusal {
  def of[A](check: A => Unit): A => Unit = { seen =>
    try check(seen)
    catch { case e: AnalysisException => throw new PolicyRefusedException(e.getMessage) }
  }
}
