package org.apache.spark.sql.sparkconfig

import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.sql.catalyst.catalog.{ExternalCatalogWithListener, GlobalTempViewManager}
import org.apache.spark.sql.execution.CacheManager
import org.apache.spark.sql.internal.SharedState
import org.apache.spark.sql.streaming.ui.StreamingQueryStatusListener

/**
 * Spark has one cache for all sessions, and takes equal plans for one: what one user caches would answer the queries of
 * others. So each session of a server's client gets a cache of its own, and clones of it have the same.
 */
object OwnCaches {

  def isIn(session: Sessions.Spark): Boolean = Sessions.classic(session).sharedState.isInstanceOf[OwnState]

  /** To be called before the session caches anything. All else stays shared. */
  def put(session: Sessions.Spark): Unit = synchronized {
    if (!isIn(session)) {
      val shared = Sessions.classic(session).sharedState
      val own = Reflect.unsafe.allocateInstance(classOf[OwnState])
      Reflect.instanceFields(classOf[SharedState]).foreach(field => field.set(own, field.get(shared)))
      Reflect.field(classOf[SharedState], "cacheManager").set(own, new CacheManager)
      Reflect.field(classOf[OwnState], "shared").set(own, shared)
      Reflect.field(classOf[Sessions.Classic], "sharedState").set(session, own)
    }
  }
}

/** Made without its constructor, which would begin all of that anew. */
private final class OwnState(private val shared: SharedState) extends SharedState(shared.sparkContext, Map.empty) {
  override lazy val externalCatalog: ExternalCatalogWithListener = shared.externalCatalog
  override lazy val globalTempViewManager: GlobalTempViewManager = shared.globalTempViewManager
  override lazy val streamingQueryStatusListener: Option[StreamingQueryStatusListener] =
    shared.streamingQueryStatusListener
}
