package io.sparkconfig.policy.doors

import java.lang.StackWalker.StackFrame
import java.util.stream.{Stream => JStream}

/**
 * What Spark itself does with the confs of sessions: it clones a session for a streaming query or to cache a table,
 * and changes some confs of the clone. A clone looks the same when a user of Spark Connect makes it, and the function
 * of `foreachBatch` holds one; so the calling code decides.
 */
private[policy] object SparkInternalConfs {
  private val Callers = Seq("org.apache.spark.sql.execution.CacheManager", "org.apache.spark.sql.execution.streaming.")

  /** The way from the caller to the map of the confs. */
  private val Between = Seq(
    "io.sparkconfig.",
    "org.apache.spark.sql.sparkconfig.",
    "java.",
    "scala.",
    "jdk.",
    "org.apache.spark.sql.internal.",
    "org.apache.spark.sql.RuntimeConfig",
    "org.apache.spark.sql.classic.RuntimeConfig")

  /**
   * Whether a clone may have this. The checkpoint of a stream brings some, and users write it with the lake:
   * what names a class is as the session has it.
   *
   * @param own what the session has
   */
  def allows(text: String, own: => Option[String]): Boolean =
    own.contains(text) || !(own.toSeq :+ text).exists(String.valueOf(_).contains('.'))

  /** Whether Spark's own code is setting a conf, in this thread. */
  def isSetting: Boolean = caller(_.dropWhile(frame => Between.exists(frame.getClassName.startsWith(_))))

  /** Whether this is RESET, which gives a session the server's own texts again. */
  def isResetting: Boolean = StackWalker.getInstance().walk[Boolean](_.anyMatch(_.getClassName.startsWith(Reset)))

  private val Reset = "org.apache.spark.sql.execution.command.ResetCommand"

  /** Whether Spark's own code is cloning a session, in this thread. */
  def isCloning: Boolean =
    caller(_.dropWhile(_.getMethodName != "cloneSession").dropWhile(_.getMethodName == "cloneSession"))

  private def caller(above: JStream[StackFrame] => JStream[StackFrame]): Boolean =
    StackWalker.getInstance().walk[Boolean] { frames =>
      val found = above(frames).findFirst()
      // A helper that CacheManager calls stands with the sessions.
      found.isPresent && (found.get.getMethodName.contains("getOrCloneSessionWithConfigsOff") ||
        Callers.exists(found.get.getClassName.startsWith(_)))
    }
}
