package io.sparkconfig.executor

import java.util.concurrent.ConcurrentHashMap

import scala.collection.JavaConverters._

import io.sparkconfig.policy.Grants
import org.apache.spark.TaskContext
import org.apache.spark.util.TaskCompletionListener

/** Which connections the tasks of this executor may open, see [[Grants.Property]]. */
private[executor] final class TaskGrants {
  private val running = new ConcurrentHashMap[Long, String]
  @volatile private var operators = ""

  def begin(task: TaskContext): Unit = Option(task.getLocalProperty(Grants.Property)).foreach { text =>
    operators = Grants.operators(text)
    running.put(task.taskAttemptId(), text)
    task.addTaskCompletionListener(new TaskCompletionListener {
      override def onTaskCompletion(context: TaskContext): Unit = running.remove(task.taskAttemptId())
    })
  }

  /**
   * Whether the task of this thread may open a connection. A library's thread, such as one that uploads a part of a
   * file, belongs to no task: it works for one that runs, whose own first request was made in its own thread.
   */
  def open(connection: String): Boolean =
    Grants.ofTask(connection).getOrElse(running.values.asScala.exists(_.contains(connection))) ||
      operators.contains(connection)
}
