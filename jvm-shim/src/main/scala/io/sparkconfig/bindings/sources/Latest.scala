package io.sparkconfig.bindings.sources

import java.lang.ref.SoftReference

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.sparkconfig.Sessions

/**
 * What each session made last, and of which values: made once for many queries, until the values change again. Sessions
 * share views, and a source may have read confs of the session in which it was loaded. A relation leads back to its
 * session, and is let go when memory is short.
 */
private[sources] final class Latest {
  private val known = new WeakIdentityMap[Sessions.Spark, SoftReference[(String, LogicalPlan)]]

  /** @param fingerprint of the values; queries that come at once may each make it */
  def of(session: Sessions.Spark, fingerprint: String)(make: => LogicalPlan): LogicalPlan =
    known.get(session).flatMap(held => Option(held.get)) match {
      case Some((`fingerprint`, made)) => made
      case _ =>
        val made = make
        known.put(session, new SoftReference((fingerprint, made)))
        made
    }
}
