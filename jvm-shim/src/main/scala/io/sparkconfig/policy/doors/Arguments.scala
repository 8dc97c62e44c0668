package io.sparkconfig.policy.doors

import java.lang.reflect.{Field, Modifier}
import java.util.concurrent.ConcurrentHashMap

import scala.util.Try

import org.apache.spark.sparkconfig.access.Reflect

/** The arguments of a case class by their names, which Scala 2.12 keeps in the fields alone. */
private[doors] object Arguments {
  private val known = new ConcurrentHashMap[Class[_], Seq[Field]]()

  def of(product: Product): Seq[(String, Any)] = {
    val given = product.productIterator.collect { case value: AnyRef => value }.toSeq
    known.computeIfAbsent(product.getClass, fields(_)).flatMap { field =>
      val value = field.get(product)
      // Lazy values of the class have fields, too.
      if (given.exists(_ eq value) || value.isInstanceOf[java.lang.Boolean]) Some(name(field) -> value) else None
    }
  }

  private def fields(kind: Class[_]): Seq[Field] =
    kind.getDeclaredFields.toSeq
      .filterNot(field => Modifier.isStatic(field.getModifiers) || field.getName.startsWith("bitmap"))
      .flatMap(field => Try(Reflect.open(field)).toOption)

  private def name(field: Field): String = field.getName.substring(field.getName.lastIndexOf('$') + 1)
}
