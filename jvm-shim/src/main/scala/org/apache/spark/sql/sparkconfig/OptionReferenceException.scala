package org.apache.spark.sql.sparkconfig

import org.apache.spark.sql.AnalysisException

/**
 * A reference in an option cannot be used. The constructors of AnalysisException that take a text are private to
 * Spark SQL; as a subclass it reaches PySpark and Connect clients as their AnalysisException.
 *
 * @param message names option, source and reference, never a value
 */
class OptionReferenceException(message: String, cause: Throwable = null)
  extends AnalysisException(message, None, None, Option(cause), None, Map.empty[String, String], Array.empty)
