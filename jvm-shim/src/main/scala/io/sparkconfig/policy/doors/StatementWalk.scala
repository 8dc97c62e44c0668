package io.sparkconfig.policy.doors

import java.net.URI
import java.util.Locale

import scala.collection.JavaConverters._
import scala.collection.mutable

import io.sparkconfig.policy.StatementItem
import io.sparkconfig.policy.StatementItem.{Read, Write, statement}
import io.sparkconfig.policy.doors.Surface.Verdict
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.analysis.{GlobalTempView, PlanWithUnresolvedIdentifier, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, NamedArgumentExpression}
import org.apache.spark.sql.catalyst.parser.{CatalystSqlParser, ParseException}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.SparkSqlParser
import org.apache.spark.sql.types.{BinaryType, DataType, Metadata, StructField, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.unsafe.types.UTF8String

/**
 * Collects what one plan does and names. The surface files say of each class whether it runs and how rules call it, and
 * of each text, map and type among its arguments what it is. What no file lists is refused by its name.
 *
 * @param direct whether a table's name of two parts is a data source and a path (`` text.`/a` ``)
 * @param unlisted the class of a function that is built in, though no file lists it
 */
private[doors] class StatementWalk(
    conf: Configuration,
    direct: Seq[String] => Boolean,
    unlisted: String => Option[String] = _ => None) {
  import StatementWalk._

  private val found = mutable.LinkedHashSet.empty[StatementItem]
  private val called = mutable.LinkedHashSet.empty[(String, Map[String, String])]

  private var places = false

  /** The options that calls of functions set, with the format of each. */
  def calledOptions: Seq[(String, Map[String, String])] = called.toSeq

  def items: Set[StatementItem] = found.toSet

  /** A plan, what it holds, and its subqueries; what is analysed already was looked at before. */
  def plan(node: LogicalPlan): Unit = if (!node.analyzed) {
    val kind = Kinds.of(node.getClass)
    verdict(kind, node)
    Kinds.statement(kind).foreach(name => found += statement(name, detail(kind, node)))
    val procedure = kind.verdict.exists(_.kind == "asks:procedure") && procedureOf(node)
    places ||= procedure
    arguments(kind, node.asInstanceOf[Product], Both, local = false)
    if (procedure) places = false
    node match {
      case named: PlanWithUnresolvedIdentifier =>
        val (made, isUnknown) = FunctionCalls.table(named)
        made.foreach(_.foreach(plan))
        if (isUnknown) found += statement("table-by-name", "IDENTIFIER")
      case _ => ()
    }
  }

  /** CALL of a catalog's procedure: whether the texts that it is called with may be places. */
  private def procedureOf(node: LogicalPlan): Boolean =
    (node +: node.children).flatMap(each => Arguments.of(each.asInstanceOf[Product])).collectFirst {
      case (_, parts: Seq[_]) if parts.nonEmpty && parts.forall(_.isInstanceOf[String]) => parts.last.toString
    }.exists { name =>
      val listed = SqlSurface.of(s"call ${name.toLowerCase(Locale.ROOT)}")
      if (listed.isEmpty) refuse(s"call $name")
      else found += statement(s"call-${name.toLowerCase(Locale.ROOT).replace('_', '-')}")
      listed.exists(_.argument == "places")
    }

  /** Whether an expression does or names anything that is to be asked about. */
  def finds(tree: Expression): Boolean = {
    expression(tree)
    found.nonEmpty || called.nonEmpty
  }

  def path(text: String, access: String, local: Boolean = false): Unit =
    found += StatementItem.path(text, access, conf, local)

  def source(name: String, access: String): Unit = SourceNames.of(name).foreach { each =>
    found += StatementItem("source", each, access)
  }

  /** Refuses an object of a class that no file lists. */
  def list(node: AnyRef): Unit = verdict(Kinds.of(node.getClass), node)

  private def verdict(kind: Kind, of: AnyRef): Unit =
    if (kind.verdict.isEmpty) refuse(of.getClass.getName)
    else if (kind.verdict.exists(_.kind == "refused")) found += statement(kind.name)

  private def refuse(name: String): Unit = found += statement(name, "no surface file lists it")

  private def expression(tree: Expression): Unit = tree.foreach { each =>
    val kind = Kinds.of(each.getClass)
    verdict(kind, each)
    Kinds.statement(kind).foreach(name => found += statement(name))
    // DEFAULT of a column, and DEFAULT of a variable, which is an ordinary expression.
    if (kind.verdict.exists(_.kind == "asks:default") && !each.children.forall(ColumnDefaults.isConstant)) openDefault()
    FunctionCalls.of(each).foreach(call)
    if (places && !isWritten(each)) found += statement("function-options", kind.name)
    each match {
      case Literal(text: UTF8String, _) =>
        if (ColumnDefaults.inJson(text.toString)) openDefault()
        if (TypeTexts.holdsUdt(text.toString)) found += statement("udt")
        found ++= StatementDoor.nesting(text.toString)
        if (places && text.toString.exists("/:".contains(_))) Both.foreach(path(text.toString, _))
        if (places && text.toString.contains("`") && text.toString.contains("/")) placeOfLibrary(text.toString)
      case _ if kind.arguments.nonEmpty => arguments(kind, each.asInstanceOf[Product], Both, local = false)
      case _ => each.productIterator.foreach(nested)
    }
  }

  private def call(call: FunctionCalls.Call): Unit = SqlSurface.function(call.name) match {
    case _ if places && (call.arguments.isEmpty || SqlSurface.of(s"default ${call.name}").isEmpty) =>
      found += statement("function-options", call.name)
    case Some(Verdict("asks:call", places)) =>
      val asked = FunctionCalls.asked(call, places)
      asked.paths.foreach(path(_, Read))
      if (isFlood(asked.options)) found += Flood
      else if (asked.options.nonEmpty) called += asked.format -> asked.options
      if (asked.`type`) found += statement("udt")
      if (asked.open) found += statement("function-options", call.name)
    case Some(Verdict("harmless", _)) => ()
    case Some(_) => found += statement(s"${call.name}()")
    case None if call.name.isEmpty => found += statement("function-by-name", "IDENTIFIER")
    case None => unlisted(call.name).foreach(kind => refuse(s"${call.name}() of $kind"))
  }

  /** A table's name. A catalog may take it for a place: Delta's and Iceberg's do. */
  def name(parts: Seq[String], access: Seq[String], isPath: Boolean = false): Unit = {
    if (leadsAway(parts)) placeInName(parts)
    if (parts.last.contains("/") || isPath) {
      val format = parts.init.lastOption.filter(SourceNames.exists)
      if (!format.exists(SourceNames.isSparks)) placeOfLibrary(parts.last)
      access.foreach { access =>
        format.foreach(source(_, access))
        path(parts.last, access)
      }
    }
  }

  /**
   * A table of a library, named by its path. Delta searches the folders above it, Delta and Iceberg drop parts of its
   * end, and the metadata they read there names other files. So such tables are used by their names in a catalog.
   */
  private def placeOfLibrary(place: String): Unit = found += statement("place-of-library", place)

  /** The same where a statement gives the source and the path separately. */
  def readsPlace(format: String, options: Iterable[String], places: Iterable[Any]): Unit =
    if (!SourceNames.isSparks(format) && (places.nonEmpty || options.exists(isPlace))) placeOfLibrary(format)

  private def placeInName(parts: Seq[String]): Unit = found += statement("place-in-name", parts.mkString("."))

  private def openDefault(): Unit = found += statement(ColumnDefaults.Refused)

  /** Plans in expressions, which are subqueries, and types. */
  private def nested(value: Any): Unit = value match {
    case inner: LogicalPlan => plan(inner)
    case Some(inner: LogicalPlan) => plan(inner)
    case _: DataType | _: Metadata => types(value)
    case Some(metadata: Metadata) => types(metadata)
    case _ => ()
  }

  private def types(value: Any): Unit = {
    val open = value match {
      case kind: DataType => ColumnDefaults.isOpen(kind)
      case field: StructField => ColumnDefaults.isOpen(StructType(Seq(field)))
      case metadata: Metadata => ColumnDefaults.isOpen(metadata)
      case _ => false
    }
    if (open) openDefault()
  }

  private def arguments(kind: Kind, owner: Product, access: Seq[String], local: Boolean): Unit = {
    val all = Arguments.of(owner)
    source(kind, all)
    val here = local || all.exists { case (name, value) => name == "isLocal" && value == true }
    all.foreach { case (name, value) =>
      val verdict = kind.arguments.get(name)
      verdict.filter(_.kind == "asks:statement" && Seq(true, GlobalTempView).contains(value))
        .foreach(is => found += statement(is.argument))
      if (verdict.exists(_.kind == "reads:function")) call(FunctionCalls.table(value, all.map(_._2)))
      val own = verdict.map(_.argument).filter(_.nonEmpty).fold(access)(_.split('-').toSeq)
      argument(Argument(s"${kind.name}.$name", verdict.map(_.kind), own, here), value)
    }
  }

  /** For reads and writes only: the path of a new table is registered in the catalog. */
  private def source(kind: Kind, all: Seq[(String, Any)]): Unit = {
    def of(verdict: String*) = all.filter(each => kind.arguments.get(each._1).exists(is => verdict.contains(is.kind)))
    all.foreach { case (name, format) =>
      if (kind.arguments.get(name).exists(is => is.kind == "asks:source" && Access.contains(is.argument))) {
        val options = of("asks:options").collect { case (_, Options(texts, _)) => texts.keys }.flatten
        val places = of("asks:path").map(_._2).filterNot(Set[Any](Nil, None, null))
        readsPlace(Option(format).mkString, options, places)
      }
    }
  }

  private def argument(is: Argument, value: Any): Unit = ((is.verdict, value): @unchecked) match {
    case (_, null | None | _: java.lang.Boolean | _: java.lang.Number) | (Some("reads:nothing"), _) => ()
    // Operators are functions, too, so `%` is a function's name here and not part of a path.
    case (Some("asks:namespace"), Name(Seq(function))) if SqlSurface.function(function).isDefined => ()
    case (Some("asks:namespace"), Name(parts)) => if (leadsAway(parts :+ "")) placeInName(parts)
    case (Some(kind @ ("asks:table" | "asks:name")), Name(parts)) =>
      name(parts, is.access, kind == "asks:table" && direct(parts))
    case (Some("asks:options"), Options(texts, below)) =>
      is.access.foreach(options(texts, _))
      below.foreach(expression)
    // Called with the arguments beside it.
    case (Some("reads:function"), _) => ()
    // Statements of their own, by detail().
    case (Some("asks:resources"), _) => ()
    case (_, inner: LogicalPlan) => plan(inner)
    case (_, Some(inner)) => argument(is, inner)
    case (_, _: String | _: URI | _: Path | _: Array[Byte]) => leaf(is, value.asInstanceOf[AnyRef])
    case (_, _: DataType | _: StructField | _: Metadata) => types(value)
    case (_, map: CaseInsensitiveStringMap) => if (!map.isEmpty) leaf(is, map)
    case (_, part: Product) if Kinds.of(part.getClass).arguments.nonEmpty =>
      arguments(Kinds.of(part.getClass), part, is.access, is.local)
    case (_, tree: Expression) => expression(tree)
    case (_, map: scala.collection.Map[_, _]) => map.foreach { case (key, each) =>
        if (!key.isInstanceOf[String]) argument(is, key)
        argument(is, each)
      }
    case (_, all: Array[_]) => all.foreach(argument(is, _))
    case (_, all: Iterable[_]) => all.foreach(argument(is, _))
    case (_, each: AnyRef) if Kinds.isHarmless(each.getClass) => ()
    case (_, tuple: Product) if Containers.pattern.matcher(tuple.getClass.getName).matches =>
      tuple.productIterator.foreach(argument(is, _))
    case (_, other: AnyRef) => refuse(s"${is.name}: ${other.getClass.getName}")
  }

  private def leaf(is: Argument, value: AnyRef): Unit = is.verdict match {
    case Some("harmless" | "reads:named") => ()
    case Some("asks:place") =>
      placeOfLibrary(value.toString)
      is.access.foreach(path(value.toString, _))
    case Some("asks:path" | "asks:resource") => is.access.foreach(path(value.toString, _, is.local))
    case Some("asks:source") => is.access.foreach(source(value.toString, _))
    case Some("asks:function") => found += StatementItem("function", value.toString)
    case Some("asks:default") => if (ColumnDefaults.isOpenText(value.toString)) openDefault()
    case Some("asks:expression") => parsed(value)(text => expression(CatalystSqlParser.parseExpression(text)))
    case Some("asks:query") => parsed(value)(text => plan(new SparkSqlParser().parsePlan(text)))
    case Some("asks:columns") => parsed(value) { text =>
        val table = CatalystSqlParser.parsePlan(s"CREATE TABLE a ($text)")
        arguments(Kinds.of(table.getClass), table.asInstanceOf[Product], Both, local = false)
      }
    case _ => refuse(is.name)
  }

  /** SQL that is a text of its own. What cannot be parsed here is refused. */
  private def parsed(value: AnyRef)(walk: String => Unit): Unit =
    try walk(value.toString)
    catch { case _: ParseException => found += statement("sql-text") }

  /** The options of a source or sink, and properties of tables, that hold paths or name classes of Hive's. */
  def options(texts: scala.collection.Map[String, String], access: String): Unit =
    if (isFlood(texts)) found += Flood
    else texts.foreach { case (key, text) =>
      if (text != null) found ++= StatementDoor.nesting(text)
      // `avro.schema.url` and `avroSchemaUrl` are one key to this.
      val squeezed = key.toLowerCase(Locale.ROOT).filter(_.isLetterOrDigit)
      Seq(key.toLowerCase(Locale.ROOT), squeezed).distinct.flatMap(SqlSurface.option.of(_)).foreach {
        case Verdict("asks:path", own) => pathsIn(text).foreach(path(_, if (own.isEmpty) access else own))
        case _ => if (text != null) source(text, access)
      }
    }

  /** What a statement names that no other item says. */
  private def detail(kind: Kind, node: LogicalPlan): String = Arguments.of(node.asInstanceOf[Product]).flatMap {
    case (name, value) => (kind.arguments.get(name).map(_.kind), value) match {
        case (Some("asks:resource" | "reads:named"), all: Seq[_]) => all
        case (Some("asks:function"), text) => Seq(text)
        case (Some("asks:resources"), all: Seq[_]) =>
          all.foreach(each => resource(Arguments.of(each.asInstanceOf[Product]).toMap))
          Nil
        case _ => Nil
      }
  }.mkString(", ")

  /** A jar, a file or an archive of a function. */
  private def resource(parts: Map[String, Any]): Unit = {
    val kind = parts.get("resourceType").map(_.asInstanceOf[AnyRef])
      .fold("file")(Reflect.get(_, "resourceType").toString.toLowerCase(Locale.ROOT))
    found += statement(s"add-$kind", parts.get("uri").mkString)
  }
}

private[doors] object StatementWalk {
  private val Both = Seq(Read, Write)
  private val Access = Both.toSet
  private val Containers = "scala\\.(Tuple.*|util\\.(Left|Right))".r

  /**
   * @param name with its class, as files write it
   * @param access how the plan uses the paths and sources that it names
   * @param local whether its paths are of this machine
   */
  private final case class Argument(name: String, verdict: Option[String], access: Seq[String], local: Boolean)

  /** The parts of a table's name. */
  private object Name {
    def unapply(value: Any): Option[Seq[String]] = value match {
      case Some(inner) => unapply(inner)
      case table: TableIdentifier => Some(table.database.toSeq :+ table.table)
      case parts: Seq[_] if parts.nonEmpty && parts.forall(_.isInstanceOf[String]) => Some(parts.map(_.toString))
      case _ => None
    }
  }

  /**
   * Whether a table's name leads out of its catalog: some catalogs make folders of the parts. The last one may be a
   * path by itself, which is asked about.
   */
  def leadsAway(parts: Seq[String]): Boolean =
    parts.exists(_.split("[/\\\\]").exists(Set(".", ".."))) || parts.init.exists(_.exists("/\\%".contains(_)))

  /** Spark copies a read's options once for each of them: 8,000 took 5 s, and no source has a hundred. */
  private val MostKeys = 1000
  private val LongestKey = 1000

  private def isPlace(key: String): Boolean = Set("path", "paths")(key.toLowerCase(Locale.ROOT))

  /** What is asked about in the place of [[isFlood]]. */
  val Flood: StatementItem =
    statement("flood", s"more than $MostKeys options or properties, or a name of more than $LongestKey letters")

  /** Whether options or properties are so many, or their names so long, that other users would wait. */
  def isFlood(texts: scala.collection.Map[String, _]): Boolean =
    texts.size > MostKeys || texts.keysIterator.exists(_.length > LongestKey)

  /** Whether Spark takes an argument of a procedure as it was written, or makes it of the arguments below. */
  private def isWritten(argument: Expression): Boolean = argument match {
    case Literal(_, kind) => kind != BinaryType
    case _: UnresolvedFunction | _: NamedArgumentExpression => true
    case _ => false
  }

  /** A map of options, and the expressions in it. */
  private object Options {
    def unapply(value: Any): Option[(Map[String, String], Seq[Expression])] = value match {
      case map: CaseInsensitiveStringMap => Some(map.asCaseSensitiveMap.asScala.toMap -> Nil)
      case Some(inner) => unapply(inner)
      case map: scala.collection.Map[_, _] =>
        Some(map.toSeq.collect { case (key: String, text: String) => key -> text }.toMap -> Nil)
      case all: Seq[_] =>
        val entries = all.collect { case (key: String, tree: Expression) => key -> tree }
        val texts = entries.map {
          case (key, Literal(text, _)) => key -> Option(text).map(_.toString).orNull
          case (key, other) => key -> s"$${${other.sql}}"
        }
        val maps = all.collect { case (_, map: scala.collection.Map[_, _]) => unapply(map) }.flatten.flatMap(_._1)
        Some((texts ++ maps).toMap -> entries.map(_._2))
      case _ => None
    }
  }

  /** The paths that an option holds: one, or a list as JSON. */
  private def pathsIn(text: String): Seq[String] =
    if (text == null || isPlain(text)) Nil
    else Some(text).filter(_.trim.startsWith("[")).flatMap(JsonTokens.values).getOrElse(Seq(text))

  private def isPlain(text: String): Boolean =
    text.isEmpty || text.forall(_.isDigit) || text.equalsIgnoreCase("true") || text.equalsIgnoreCase("false")
}
