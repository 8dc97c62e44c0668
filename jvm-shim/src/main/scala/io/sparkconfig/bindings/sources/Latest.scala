package io.sparkconfig.bindings.sources

import java.lang.ref.SoftReference

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sparkconfig.Sessions

/**
 * What each session made last, and of which values: made once for many queries, until the values change again. Sessions
 * share views, and a source may have read confs of the session in which it was loaded. A relation leads back to its
 * session, and is let go when memory is short.
 */
private[sources] final class Latest {
  import Latest._

  private val known = new WeakIdentityMap[AnyRef, SoftReference[(String, LogicalPlan)]]

  /** @param fingerprint of the values; queries that come at once may each make it */
  def of(session: Sessions.Spark, fingerprint: String)(make: => LogicalPlan): LogicalPlan = {
    val state = Sessions.classic(session).sessionState
    val caching = Sessions.parent(session).filter(parent => plansCache(state.conf, parent.conf))
    known.get(caching.getOrElse(state)).flatMap(held => Option(held.get)) match {
      case Some((`fingerprint`, made)) => made
      case _ =>
        val made = make
        // What a clone made is of no use to others, and would keep it.
        if (caching.isEmpty) known.put(state, new SoftReference((fingerprint, made)))
        made
    }
  }
}

private object Latest {

  /** What Spark switches off in the clones of a session that plan one `cache()` each. */
  private val Off = Seq("spark.sql.adaptive.", "spark.sql.sources.bucketing.")

  private def plansCache(clone: SQLConf, parent: SQLConf): Boolean = {
    val (before, after) = (parent.getAllConfs, clone.getAllConfs)
    before != after && others(before) == others(after)
  }

  private def others(confs: Map[String, String]): Map[String, String] =
    confs.filterNot { case (key, _) => Off.exists(key.startsWith) }
}
