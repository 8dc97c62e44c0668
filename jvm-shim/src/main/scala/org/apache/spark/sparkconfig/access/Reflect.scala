package org.apache.spark.sparkconfig.access

import java.lang.reflect.{AccessibleObject, Field, Method, Modifier}

import sun.misc.Unsafe

/** Opens private members of other people's classes; nothing else here does. */
object Reflect {

  /**
   * A field of a class or of one above it. Scala puts the class's name before some: `...$$name` is found too.
   *
   * @throws IllegalStateException if this Spark version has none
   */
  def field(owner: Class[_], name: String): Field =
    open(line(owner).flatMap(_.getDeclaredFields)
      .find(each => each.getName == name || each.getName.endsWith("$$" + name))
      .getOrElse(throw new IllegalStateException(s"${owner.getName} has no field $name in this Spark version")))

  /** What an object's field holds; otherwise as [[field]]. */
  def get(owner: AnyRef, name: String): AnyRef = field(owner.getClass, name).get(owner)

  /**
   * A method that a class itself declares.
   *
   * @throws IllegalStateException if this Spark version has none
   */
  def method(owner: Class[_], name: String, parameters: Class[_]*): Method = {
    val found =
      try owner.getDeclaredMethod(name, parameters: _*)
      catch {
        case _: NoSuchMethodException =>
          throw new IllegalStateException(s"${owner.getName} has no method $name in this Spark version")
      }
    open(found)
  }

  /** The fields of an object of this class, those of the classes above it too. */
  def instanceFields(kind: Class[_]): Seq[Field] =
    line(kind).flatMap(_.getDeclaredFields).filterNot(field => Modifier.isStatic(field.getModifiers)).map(open(_))

  /** @throws java.lang.reflect.InaccessibleObjectException if the JVM keeps the member's module closed */
  def open[M <: AccessibleObject](member: M): M = {
    member.setAccessible(true)
    member
  }

  /** For what the JVM keeps closed. */
  lazy val unsafe: Unsafe = field(classOf[Unsafe], "theUnsafe").get(null).asInstanceOf[Unsafe]

  private def line(kind: Class[_]): List[Class[_]] =
    Iterator.iterate[Class[_]](kind)(_.getSuperclass).takeWhile(_ != null).toList
}
