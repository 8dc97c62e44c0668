package io.sparkconfig.policy.doors

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.trees.Origin

/**
 * A door at the parser refuses with an error of the parser: its proxy lets no other checked one pass, and PySpark 3.5
 * knows only Spark's own.
 */
private[doors] object ParserRefusal {
  def of[A](check: A => Unit): A => Unit = { seen =>
    try check(seen)
    catch { case e: AnalysisException => throw new ParseException(None, e.getMessage, Origin(), Origin()) }
  }
}
