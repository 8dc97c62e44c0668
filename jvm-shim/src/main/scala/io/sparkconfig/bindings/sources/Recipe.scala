package io.sparkconfig.bindings.sources

import java.lang.ref.SoftReference

import scala.util.Try

import io.sparkconfig.core.{Fingerprint, Values}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sources.BaseRelation
import org.apache.spark.sql.sparkconfig.Sessions
import org.apache.spark.sql.types.StructType
import org.slf4j.LoggerFactory

/**
 * What was made of references: this relation of a V1 source, or this table of one in Python, was made of these texts
 * with the values of that moment, which it keeps.
 *
 * @param texts the options as they were written
 * @param values what the source needs of them, as a fingerprint
 * @param isView made by `CREATE TEMPORARY VIEW ... USING`: it follows its values by name
 */
private[sources] final class Recipe(
    val provider: String,
    val texts: Map[String, String],
    val schema: Option[StructType],
    val values: String,
    val isView: Boolean) {
  private val generation = Values.snapshot.generation
  @volatile private var latest = Option.empty[Recipe.Latest]
  @volatile private var told = generation

  /** Refuses a connection that the user may not use in this way. */
  def requireAllowed(access: String): Unit = Connections.expanded(provider, texts, access)

  def isOf(other: Recipe): Boolean =
    provider == other.provider && texts == other.texts && schema == other.schema && isView == other.isView

  /** What the view is of now: another object than the one that it was made of, if its values are others. */
  def renewed(session: Sessions.Spark, access: String): Option[AnyRef] = {
    val options = Sources.options(provider, texts, Recipe.conf(session), access)
    val current = Fingerprint.of(options)
    if (current == values) None
    else latest.filter(_.isOf(session, current)).flatMap(known => Option(known.made.get)).orElse {
      val made = LoadRules.loaded(session, provider, options, schema).collectFirst(Recipe.holder)
      made.foreach { one =>
        Recipe.note(one, new Recipe(provider, texts, schema, current, isView = true))
        latest = Some(new Recipe.Latest(current, Sessions.classic(session).sessionState, new SoftReference(one)))
      }
      made
    }
  }

  /** Says once for each generation that a query uses older values than there are. */
  def tellIfOlder(session: Sessions.Spark): Unit = {
    val now = Values.snapshot.generation
    if (told < now) {
      told = now
      val current = Try(Fingerprint.of(Sources.options(provider, texts, Recipe.conf(session))))
      if (current.toOption.exists(_ != values))
        Recipe.log.warn(
          "a query uses a relation of the data source '{}' that was made before generation {}: load it again",
          provider,
          now)
    }
  }
}

/** What is known about objects that hold values. The one place for all of them. */
private[sources] object Recipe {
  private val log = LoggerFactory.getLogger(classOf[Recipe])

  /** By the objects that sources made, which Spark's rules hand on: tags of plans are lost with copies. */
  private val known = new WeakIdentityMap[AnyRef, List[Recipe]]

  /** One map for each session, since a source may have read its confs; a relation refers to its session. */
  private final class Latest(values: String, state: AnyRef, val made: SoftReference[AnyRef]) {
    def isOf(session: Sessions.Spark, current: String): Boolean =
      values == current && (state eq Sessions.classic(session).sessionState)
  }

  /** A source may give the same object to several makers. */
  def note(made: AnyRef, recipe: Recipe): Unit =
    known.update(made)(before => recipe :: before.getOrElse(Nil).filterNot(_.isOf(recipe)))

  /** Nothing: what this one was made of is not known. */
  def of(made: AnyRef): List[Recipe] = known.get(made).getOrElse(Nil)

  def areNone: Boolean = known.isEmpty

  /**
   * A value that spells a reference itself, as an object of its own. Spark makes new maps, relations and plans of the
   * options that a source got, and the rules meet them again: they know such a value by its object, and leave it alone.
   * A text that a user writes is another object, whatever it spells.
   */
  def valueOf(text: String): String = {
    val own = new String(text)
    known.put(own, Nil)
    own
  }

  def isValue(text: String): Boolean = known.get(text).isDefined

  /** What holds values in a plan. Files do not: their relations show their options, which are references. */
  val holder: PartialFunction[LogicalPlan, AnyRef] = {
    case logical: LogicalRelation if !Sources.isOfFiles(logical.relation) => logical.relation
    case relation: DataSourceV2Relation if relation.table.getClass.getSimpleName == "PythonTable" => relation.table
  }

  /** What a plan uses instead of this: a view's relation with its newest values. */
  def now(session: Sessions.Spark, made: AnyRef, access: String): Option[AnyRef] = of(made) match {
    case Nil => None
    case recipes =>
      recipes.foreach(_.requireAllowed(access))
      recipes match {
        // With several of them it is not clear which would give the new values.
        case List(view) if view.isView => view.renewed(session, access).filter(haveSameColumns(made, _))
        case _ =>
          recipes.foreach(_.tellIfOlder(session))
          None
      }
  }

  /** A plan refers to the columns that it was analysed with: with others, a view has to be made again. */
  private def haveSameColumns(made: AnyRef, now: AnyRef): Boolean = (made, now) match {
    case (before: BaseRelation, after: BaseRelation) => same(before.schema == after.schema)
    case (before: Table, after: Table) => same(before.schema == after.schema)
    case _ => false
  }

  private def same(columns: Boolean): Boolean = {
    if (!columns) log.warn("the source of a view has other columns than when it was made: make the view again")
    columns
  }

  private def conf(session: Sessions.Spark): SQLConf = Sessions.classic(session).sessionState.conf
}
