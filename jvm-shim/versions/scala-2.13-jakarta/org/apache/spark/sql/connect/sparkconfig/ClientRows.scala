package org.apache.spark.sql.connect.sparkconfig

import java.io.InputStream

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.artifact.ArtifactManager
import org.apache.spark.sql.connect.service.{SessionKey, SparkConnectService}
import org.apache.spark.storage.CacheId

/** What a client of Connect has sent ahead under `cache/`, as the server keeps it. */
object ClientRows {

  /** 4.0 has no such method: a block has the id of the session that it was sent in. */
  private val idOf = classOf[ArtifactManager].getMethods.find(_.getName == "getCachedBlockId")

  /** The session of a request, made as the server is about to make it; None: the server says why there is none. */
  def session(user: String, session: String): Option[SparkSession] =
    Try(SparkConnectService.getOrCreateIsolatedSession(user, session, None).session).toOption

  /** How many sessions the user of a session has that is still to be made; 0: it is there. */
  def before(user: String, session: String): Int = {
    val manager = SparkConnectService.sessionManager
    if (manager.getIsolatedSessionIfPresent(SessionKey(user, session)).nonEmpty) 0
    else manager.listActiveSessions.count(_.userId == user)
  }

  /** Reads what has this name, by what opens it and its length; None: this user's session has nothing of this name. */
  def read[T](user: String, session: String, name: String)(reader: (() => InputStream, Long) => T): Option[T] = for {
    holder <- SparkConnectService.sessionManager.getIsolatedSessionIfPresent(SessionKey(user, session))
    id <- idOf.fold(Option(CacheId(holder.session.sessionUUID, name)))(
      _.invoke(holder.session.artifactManager, name).asInstanceOf[Option[CacheId]])
    blocks = holder.session.sparkContext.env.blockManager
    block <- blocks.getLocalBytes(id)
  } yield {
    var opened = List.empty[InputStream]
    try reader(() => { opened ::= block.toInputStream(); opened.head }, block.size)
    finally {
      opened.foreach(_.close())
      blocks.releaseLock(id)
    }
  }
}
