package io.sparkconfig.bindings.sources

import java.util.{Map => JMap}

import scala.collection.JavaConverters._

import io.sparkconfig.core.{Expression, NamedConnections, PolicyRefusedException, SparkConfigException, Values}
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.sparkconfig.OptionReferenceException
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** References and names of connections in the option maps of data sources. */
private[sparkconfig] object Options {

  /** Whether the text of an option may hold a reference, and is not the value of one. */
  def mayHold(text: String): Boolean = Expression.mayHold(text) && !Recipe.isValue(text)

  /** Whether they hold anything that becomes something else when it is used. */
  def hold(options: Map[String, String]): Boolean =
    options.exists { case (key, text) => mayHold(text) || NamedConnections.isKey(key) }

  def hold(options: CaseInsensitiveStringMap): Boolean = {
    val texts = options.values().iterator()
    while (texts.hasNext) if (mayHold(texts.next())) return true
    options.containsKey(NamedConnections.Key)
  }

  /**
   * The map with values, and with the options of the connection that it names.
   *
   * @param source the data source as the user named it
   * @throws OptionReferenceException naming every option whose reference cannot be resolved, and why
   */
  def values(
      source: String,
      options: Map[String, String],
      access: String = Connections.Read): Map[String, String] = {
    val whole = Connections.expanded(source, options, access)
    NamedConnections.withoutKey(some(source, whole, _ => true))
  }

  /** Only the options that `wanted` names by their keys get values; connections were expanded before. */
  def some(source: String, options: Map[String, String], wanted: String => Boolean): Map[String, String] = {
    val expressions = options.collect {
      case (key, text) if mayHold(text) && wanted(key) =>
        key -> Expression.of(text, options)
    }
    if (expressions.isEmpty) options
    else {
      resolve(source, KafkaOptions.late(options), options)
      KafkaOptions.addressed(options ++ resolve(source, expressions, options))
    }
  }

  /** The same for a writer, whose executors may share what they make of these options. */
  def forWrite(source: String, options: Map[String, String]): Map[String, String] =
    expandedForWrite(source, Connections.expanded(source, options, Connections.Write))

  /** The same, after connections were expanded. */
  def expandedForWrite(source: String, options: Map[String, String]): Map[String, String] = {
    val values = NamedConnections.withoutKey(some(source, options, _ => true))
    KafkaOptions.marked(values, resolve(source, KafkaOptions.late(options), options))
  }

  def values(source: String, options: CaseInsensitiveStringMap): CaseInsensitiveStringMap =
    if (hold(options)) new CaseInsensitiveStringMap(values(source, texts(options)).asJava) else options

  def texts(options: CaseInsensitiveStringMap): Map[String, String] = options.asCaseSensitiveMap.asScala.toMap

  /**
   * The options of a resolved relation as they were written: a key that `written` does not have keeps its text, unless
   * it came from a connection.
   */
  def asWritten(options: JMap[String, String], written: CaseInsensitiveMap[String]): Map[String, String] = {
    val restored = options.asScala.map { case (key, text) => key -> written.getOrElse(key, text) }.toMap
    NamedConnections.nameIn(written).fold(restored) { name =>
      NamedConnections.written(restored + (NamedConnections.Key -> name))
    }
  }

  private def resolve(
      source: String,
      expressions: Map[String, Expression],
      written: Map[String, String]): Map[String, String] = {
    val answers = expressions.toSeq.sortBy(_._1).map { case (key, expression) =>
      try Right(key -> Values.resolve(expression))
      catch { case e: SparkConfigException => Left(e -> problem(source, key, written, e)) }
    }
    val problems = answers.collect { case Left(problem) => problem }
    if (problems.nonEmpty) throw new OptionReferenceException(
      problems.map(_._2).mkString("\n"),
      isRefusal = problems.exists(_._1.isInstanceOf[PolicyRefusedException]))
    // Each was requested on its own; all are read from one generation.
    val snapshot = Values.snapshot
    answers.collect { case Right((key, first)) =>
      val value = snapshot.get(expressions(key)).getOrElse(first)
      key -> (if (Expression.mayHold(value)) Recipe.valueOf(value) else value)
    }.toMap
  }

  private def problem(source: String, key: String, written: Map[String, String], e: SparkConfigException): String =
    NamedConnections.nameIn(written).filter(name => NamedConnections.find(name).exists(_.sets(key))) match {
      case Some(name) => s"The data source '$source': ${NamedConnections.withheld(name, e)}"
      case None =>
        s"The option '$key' of the data source '$source' holds ${written(key)}, which cannot be resolved: " +
          e.getMessage
    }
}
