package org.apache.spark.sql.sparkconfig

import java.lang.reflect.Field
import java.util.concurrent.Callable

import scala.util.control.NonFatal

import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.sql.catalyst.QualifiedTableName
import org.apache.spark.sql.catalyst.catalog.SessionCatalog
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan}
import org.sparkproject.guava.cache.{Cache, ForwardingCache}

/**
 * The rule that makes the relations of V1 catalog tables (`FindDataSourceTable`) asks the session catalog's cache for
 * them first: 3.5 tells it to have them made, 4.x only looks.
 */
object RelationCacheHook {
  private lazy val cacheField: Field = Reflect.field(classOf[SessionCatalog], "tableRelationCache")

  /**
   * @param relation of a table, given what the cache has of it; None where Spark is to do as always
   */
  def install(
      catalog: SessionCatalog,
      relation: (QualifiedTableName, Option[LogicalPlan]) => Option[LogicalPlan]): Unit =
    cacheField.get(catalog) match {
      case _: ResolvingCache =>
      case plain => cacheField.set(
          catalog,
          new ResolvingCache(plain.asInstanceOf[Cache[QualifiedTableName, LogicalPlan]], relation))
    }

  /** Asks for a table that is written to: Spark itself asks nothing about it, and finds no command. */
  def requireAllowed(table: LogicalPlan): Unit = table match {
    case RefusedRelation(refused) => throw refused
    case _ => ()
  }
}

private final class ResolvingCache(
    plain: Cache[QualifiedTableName, LogicalPlan],
    relation: (QualifiedTableName, Option[LogicalPlan]) => Option[LogicalPlan])
  extends ForwardingCache[QualifiedTableName, LogicalPlan] {

  override protected def delegate(): Cache[QualifiedTableName, LogicalPlan] = plain

  /** On 4.x statements that read nothing (DROP, DESCRIBE) look here as well: for them a refused table is there, too. */
  override def getIfPresent(key: AnyRef): LogicalPlan =
    try own(key.asInstanceOf[QualifiedTableName]).getOrElse(plain.getIfPresent(key))
    catch { case NonFatal(refused) => RefusedRelation(refused) }

  override def get(key: QualifiedTableName, make: Callable[_ <: LogicalPlan]): LogicalPlan =
    own(key).getOrElse(plain.get(key, make))

  private def own(key: QualifiedTableName): Option[LogicalPlan] = {
    val made = relation(key, Option(plain.getIfPresent(key)))
    made.foreach(plain.put(key, _))
    made
  }
}

/** A table of which no relation could be made. Who reads it gets the source's own error. */
private final case class RefusedRelation(refused: Throwable) extends LeafNode {
  override def output: Seq[Attribute] = throw refused
  override def simpleString(maxFields: Int): String = "RefusedRelation"
}
