package io.sparkconfig.bindings.sources

import java.util.{Map => JMap}

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.sql.sparkconfig.OptionReferenceException

/**
 * Objects of others that hold a reference as its text, since they were made before any rule could give them values.
 * No text reaches what they read or write: they are refused.
 */
private[sources] object HeldTexts {

  /** From an object over its fields to the maps of its options, and over one object between. */
  private val Depth = 2

  /**
   * @param held what may hold texts
   * @param works what gives values instead, for the user
   */
  def refuse(held: AnyRef, works: String): Unit = {
    val name = held.getClass.getName
    fields(held, Depth).filter { case (_, text) => Options.mayHold(text) }.foreach { option =>
      if (Options.values(name, Map(option)) != Map(option)) throw new OptionReferenceException(
        s"$name got '${option._1}' with the reference ${option._2} itself, which would be sent as it is. $works")
    }
  }

  private def texts(name: String, held: Any, depth: Int): Iterator[(String, String)] = held match {
    case text: String => Iterator(name -> text)
    case options: Map[_, _] => entries(options.iterator)
    case options: JMap[_, _] => entries(options.asScala.iterator)
    case Some(inner) => texts(name, inner, depth)
    case other: AnyRef if depth > 0 && !isOfLibraries(other.getClass.getName) => fields(other, depth)
    case _ => Iterator.empty
  }

  /** None of an object that the JVM keeps closed, such as a lock of its own. */
  private def fields(held: AnyRef, depth: Int): Iterator[(String, String)] =
    Try(Reflect.instanceFields(held.getClass)).getOrElse(Nil).iterator.flatMap { field =>
      texts(field.getName.takeWhile(_ != '$'), field.get(held), depth - 1)
    }

  private def entries(options: Iterator[(_, _)]): Iterator[(String, String)] =
    options.collect { case (key: String, text: String) => key -> text }

  private def isOfLibraries(kind: String) =
    Seq("java.", "javax.", "jdk.", "sun.", "scala.", "org.apache.spark.").exists(kind.startsWith(_))
}
