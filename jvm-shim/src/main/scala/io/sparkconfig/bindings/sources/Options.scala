package io.sparkconfig.bindings.sources

import java.util.{Map => JMap}

import scala.collection.JavaConverters._

import io.sparkconfig.core.{Expression, SparkConfigException, Values}
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.sparkconfig.OptionReferenceException
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** References in the option maps of data sources. */
private[sparkconfig] object Options {
  def hold(options: Map[String, String]): Boolean = options.exists { case (_, text) => Expression.mayHold(text) }

  def hold(options: CaseInsensitiveStringMap): Boolean = {
    val texts = options.values().iterator()
    while (texts.hasNext) if (Expression.mayHold(texts.next())) return true
    false
  }

  /**
   * The map with values.
   *
   * @param source the data source as the user named it, for errors
   * @throws OptionReferenceException naming every option whose reference cannot be resolved, and why
   */
  def values(source: String, options: Map[String, String]): Map[String, String] =
    values(source, options, _ => true)

  /** Only the options that `wanted` names by their keys get values. */
  def values(source: String, options: Map[String, String], wanted: String => Boolean): Map[String, String] = {
    val expressions = options.collect {
      case (key, text) if Expression.mayHold(text) && wanted(key) =>
        key -> Expression.of(text, options)
    }
    if (expressions.isEmpty) options
    else {
      resolve(source, KafkaOptions.late(options), options)
      options ++ resolve(source, expressions, options)
    }
  }

  /** The same for a writer, whose executors may share what they make of these options. */
  def forWrite(source: String, options: Map[String, String]): Map[String, String] =
    KafkaOptions.marked(values(source, options), resolve(source, KafkaOptions.late(options), options))

  def values(source: String, options: CaseInsensitiveStringMap): CaseInsensitiveStringMap =
    if (hold(options)) new CaseInsensitiveStringMap(values(source, texts(options)).asJava) else options

  def texts(options: CaseInsensitiveStringMap): Map[String, String] = options.asCaseSensitiveMap.asScala.toMap

  /** The options of a resolved relation as they were written: a key that `written` does not have keeps its text. */
  def asWritten(options: JMap[String, String], written: CaseInsensitiveMap[String]): Map[String, String] =
    options.asScala.map { case (key, text) => key -> written.getOrElse(key, text) }.toMap

  private def resolve(
      source: String,
      expressions: Map[String, Expression],
      written: Map[String, String]): Map[String, String] = {
    val answers = expressions.toSeq.sortBy(_._1).map { case (key, expression) =>
      try Right(key -> Values.resolve(expression))
      catch { case e: SparkConfigException => Left(problem(source, key, written(key), e)) }
    }
    val problems = answers.collect { case Left(text) => text }
    if (problems.nonEmpty) throw new OptionReferenceException(problems.mkString("\n"))
    // Each was requested on its own; all are read from one generation.
    val snapshot = Values.snapshot
    answers.collect { case Right((key, value)) => key -> snapshot.get(expressions(key)).getOrElse(value) }.toMap
  }

  private def problem(source: String, key: String, text: String, e: SparkConfigException): String =
    s"The option '$key' of the data source '$source' holds $text, which cannot be resolved: " +
      e.getMessage
}
