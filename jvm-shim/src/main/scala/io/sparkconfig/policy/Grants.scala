package io.sparkconfig.policy

import java.util.{LinkedHashMap => JLinkedHashMap, Map => JMap}

import scala.collection.JavaConverters._

import org.apache.spark.TaskContext

/**
 * What one subject has been allowed: the user of a session, or the operator. They last as long as the session and the
 * policies do. The clones that Spark makes of a session (to cache a table, for a stream) begin with a copy.
 *
 * @param parent of the session of which this one is a clone
 * @param named whom a server names for the session now
 * @param unnamed who asks while no server names anybody
 */
private[policy] final class Grants(
    parent: Option[Grants],
    named: () => Option[Requester],
    unnamed: Option[Requester]) {
  import Grants._

  private val answers: Recent[Any] = new Recent[Any](parent.map(_.answers))
  private val connections: Recent[String] = new Recent[String](parent.map(_.connections))
  @volatile private var known = Option.empty[Requester]

  /** Who asks. A session belongs to one user for ever, so the first name stays. */
  def requester: Option[Requester] = known.orElse {
    known = named()
    known
  }.orElse(parent.flatMap(_.requester).filter(_.user.nonEmpty)).orElse(unnamed)

  /** Whether a question was answered with yes. */
  def allows(question: Any): Boolean = answers.has(question)

  def allow(question: Any): Unit = answers.add(question)

  /** Whether a connection may be opened, by the [[io.sparkconfig.core.Fingerprint]] of its options. */
  def opens(connection: String): Boolean = connections.has(connection)

  def open(connection: String): Unit = connections.add(connection)

  /** The connections, as a job's tasks carry them. */
  def text: String = connections.text
}

private[sparkconfig] object Grants {

  /**
   * The local property of a job's tasks, three lists divided by semicolons: which connections the session that
   * submitted it may open, those of a thread without session that did, and those of the operator. Spark copies a
   * session's confs to the local properties, but none with this name.
   */
  val Property = "io.sparkconfig.grants"
  private val Most = 512

  /** Whether the task that runs in this thread may open a connection; None outside of tasks. */
  def ofTask(connection: String): Option[Boolean] =
    Option(TaskContext.get()).map(task => Option(task.getLocalProperty(Property)).exists(_.contains(connection)))

  /** What the operator's own text may open, for threads of libraries, which belong to no task. */
  def operators(property: String): String = property.substring(property.lastIndexOf(';') + 1)

  /** The things that were looked for last. */
  private final class Recent[T](from: Option[Recent[T]]) {
    private val each = new JLinkedHashMap[T, T](16, 0.75f, true) {
      override def removeEldestEntry(eldest: JMap.Entry[T, T]): Boolean = size() > Most
    }
    @volatile private var shown = ""
    from.foreach(_.all.foreach(add))

    private def all: List[T] = synchronized(each.keySet.asScala.toList)

    def has(one: T): Boolean = synchronized(each.containsKey(one) && each.get(one) == one)

    def add(one: T): Unit = synchronized {
      each.put(one, one)
      shown = null
    }

    def text: String = Option(shown).getOrElse {
      synchronized { shown = each.keySet.asScala.mkString(","); shown }
    }
  }
}
