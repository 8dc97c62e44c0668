package io.sparkconfig.redaction.sinks

import java.util.regex.Pattern.{compile => regex}

import io.sparkconfig.redaction.engine.{Redactor, Spans}

/** Statements as Spark prints them: their literals and comments are free text, identifiers and locations are not. */
private[redaction] object SqlText {
  private val Quoted = "'(?:[^'\\\\]|\\\\.|'')*+'"

  /** In order: what has to be stepped over as a whole, then what is kept. */
  private val Token = regex(
    "(?s)(?<comment>--[^\n]*|/\\*.*?\\*/)" +
      s"|(?m:^ *)(?<key>$Quoted)(?= = )" + // of an option or a property, as Spark lays them out
      s"|\\bLOCATION (?<location>$Quoted)" +
      "|(?<literal>" + Quoted + "|\"(?:[^\"\\\\]|\\\\.|\"\")*+\")" +
      "|(?<identifier>`(?:[^`]|``)*+`|[A-Za-z_][A-Za-z0-9_]*+)" +
      "|[0-9][A-Za-z0-9_.]*+")

  private val Kept = Seq("key", "location", "identifier")

  /** @return the same instance if no literal and no comment holds a value */
  def redact(statement: String): String = {
    val keep = new Spans
    val token = Token.matcher(statement)
    while (token.find()) Kept.foreach(name => if (token.start(name) >= 0) keep.add(token.start(name), token.end(name)))
    Redactor.redactExcept(statement, json = false, keep, answer = true)
  }
}
