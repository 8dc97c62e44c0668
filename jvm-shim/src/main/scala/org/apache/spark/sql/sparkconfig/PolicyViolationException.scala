package org.apache.spark.sql.sparkconfig

import org.apache.spark.sql.AnalysisException

/**
 * A policy refuses what a statement wants to set. As a subclass it reaches PySpark and Connect clients as their
 * AnalysisException.
 *
 * @param message names properties and rules, never a value
 */
class PolicyViolationException(message: String)
  extends AnalysisException(message, None, None, None, None, Map.empty[String, String], Array.empty)
