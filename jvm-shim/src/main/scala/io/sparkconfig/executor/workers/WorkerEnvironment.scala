package io.sparkconfig.executor.workers

import java.util.{Map => JMap}

import org.apache.spark.sparkconfig.access.Reflect

/**
 * The environment that this process hands to the processes which it starts, Python workers among them. Spark has no
 * place where a plugin could add a variable for its workers, and a conf would show it, so the JDK's own copy of the
 * environment is changed; this process's environment as the kernel shows it stays as it is.
 */
private[workers] object WorkerEnvironment {
  private val Owner = "java.lang.ProcessEnvironment"

  /** @throws IllegalStateException this JVM was started without the options that Spark gives to all of its own */
  def set(name: String, text: String): Unit = synchronized { inherited.put(key(name), value(text)) }

  /**
   * Empties the variable, if it still has this text. It stays, since the JDK copies this map whenever another thread
   * starts a process, and a copy fails while entries come or go; for that reason it is set before the first task.
   */
  def empty(name: String, text: String): Unit = synchronized { inherited.replace(key(name), value(text), value("")) }

  private def inherited: JMap[AnyRef, AnyRef] = attempt {
    Reflect.field(Class.forName(Owner), "theEnvironment").get(null).asInstanceOf[JMap[AnyRef, AnyRef]]
  }

  private def key(name: String): AnyRef = make("Variable", name)

  private def value(text: String): AnyRef = make("Value", text)

  private def make(kind: String, text: String): AnyRef = attempt {
    Reflect.method(Class.forName(s"$Owner$$$kind"), "valueOf", classOf[String]).invoke(null, text)
  }

  private def attempt[T](action: => T): T =
    try action
    catch {
      case e @ (_: ReflectiveOperationException | _: RuntimeException) => throw new IllegalStateException(
          "this JVM cannot add to its workers' environment; start it with " +
            s"--add-opens=java.base/java.lang=ALL-UNNAMED, as Spark does (${e.getClass.getSimpleName})")
    }
}
