package io.sparkconfig.redaction

import java.util.regex.{Pattern => Regex, PatternSyntaxException}

import io.sparkconfig.redaction.engine.{Credentials, Redactor}
import org.apache.spark.SparkConf

/** Secrets that are written in clear into confs: found by their keys, then masked by value like all others. */
object LiteralKeys {

  /** Comma-separated regular expressions, searched in keys without regard to case; they extend the built-in ones. */
  val Key = "spark.config.redaction.keys"

  // Spark's own, and what it misses.
  private val BuiltIn = Regex.compile(
    "(?i)secret|password|passwd|passphrase|token|access[._-]?key|account[._-]?key|fs\\.azure\\.account\\.key|" +
      "sasl\\.jaas\\.config|api[._-]?key|private[._-]?key|credential|\\bsas\\b|[._]sas[._]|[._]sas$")
  // Names of files, classes and switches have such keys too, and are not secrets.
  private val Harmless = Regex.compile(
    "(?i)\\.(enabled?|class|provider|providers|file|path|location|type|length|size|timeout|interval|renewal\\.\\w+)$|" +
      "^spark\\.config\\.(?!connections\\.)|^spark\\.redaction\\.|\\.provider\\.(path|type)$")

  /**
   * The literal secrets of a configuration; texts with references in them are none. Of a JAAS configuration it is
   * what is between the quotes.
   * @throws IllegalArgumentException if an expression of `spark.config.redaction.keys` is malformed
   */
  def values(conf: SparkConf): Seq[String] = {
    val extra = conf.get(Key, "").split(',').map(_.trim).filter(_.nonEmpty).map { text =>
      try Regex.compile(text, Regex.CASE_INSENSITIVE)
      catch {
        case wrong: PatternSyntaxException =>
          throw new IllegalArgumentException(s"$Key: '$text' is not a regular expression: ${wrong.getDescription}")
      }
    }
    conf.getAll.toSeq.flatMap { case (key, value) =>
      val named = extra.exists(_.matcher(key).find())
      val builtIn = BuiltIn.matcher(key).find() && !Harmless.matcher(key).find()
      if ((!named && !builtIn) || !Literals.isLiteral(value)) Nil else secretsIn(key, value)
    }.distinct
  }

  /** Registers [[values]]; called when the application starts. */
  def register(conf: SparkConf): Unit = Redactor.register(values(conf))

  /**
   * The literal secrets of the options of a named connection: the values of such keys, and user and password in a
   * URL. They may come from the operator's file, which is not part of Spark's confs.
   */
  def valuesOf(options: Map[String, String]): Seq[String] =
    options.toSeq.flatMap { case (key, text) =>
      if (!Literals.isLiteral(text)) Nil
      else if (BuiltIn.matcher(key).find() && !Harmless.matcher(key).find()) secretsIn(key, text)
      else Credentials.of(text)
    }.distinct

  private def secretsIn(key: String, value: String): Seq[String] =
    if (key.toLowerCase(java.util.Locale.ROOT).endsWith("sasl.jaas.config")) Credentials.quoted(value) else Seq(value)
}
