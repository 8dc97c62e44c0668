package io.sparkconfig.policy

import io.sparkconfig.core.NamedConnections
import org.apache.hadoop.conf.Configuration

/**
 * A statement, or something that a statement names.
 *
 * @param kind `statement`, `function`, `path`, `source` or `connection`, as in the rules
 * @param name the statement's kind such as `add-jar`, the class, the canonical path, the data source, the connection
 * @param detail what a statement names, such as the jar; `read` or `write` for paths, sources and connections
 * @param shown what is told instead of the name, if it is another text
 */
private[sparkconfig] final case class StatementItem(
    kind: String,
    name: String,
    detail: String = "",
    shown: String = "")

private[sparkconfig] object StatementItem {
  val Read = "read"
  val Write = "write"

  /** The use of a connection with these options: SQL of the user's own may write. */
  def connection(name: String, options: Map[String, String], access: String): Set[StatementItem] =
    (if (NamedConnections.holdsSql(options)) Set(access, Write) else Set(access))
      .map(StatementItem("connection", name, _))

  /** A path where its links lead; what is told is where it was written, or else links could be read by asking. */
  def path(text: String, access: String, conf: Configuration, local: Boolean = false): StatementItem = {
    val name = CanonicalPath.of(text, conf, local)
    val written = CanonicalPath.of(text, conf, local, links = false)
    StatementItem("path", name, access, if (written == name) "" else written)
  }

  def statement(name: String, detail: String = ""): StatementItem = StatementItem("statement", name, detail)
}
