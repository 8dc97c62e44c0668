package io.sparkconfig.policy

import io.sparkconfig.core.NamedConnections

/**
 * A statement, or something that a statement names.
 *
 * @param kind `statement`, `function`, `path`, `source` or `connection`, as in the rules
 * @param name the statement's kind such as `add-jar`, the class, the canonical path, the data source, the connection
 * @param detail what a statement names, such as the jar; `read` or `write` for paths, sources and connections
 */
private[sparkconfig] final case class StatementItem(kind: String, name: String, detail: String = "")

private[sparkconfig] object StatementItem {
  val Read = "read"
  val Write = "write"

  /** The use of a connection with these options: SQL of the user's own may write. */
  def connection(name: String, options: Map[String, String], access: String): Set[StatementItem] =
    (if (NamedConnections.holdsSql(options)) Set(access, Write) else Set(access))
      .map(StatementItem("connection", name, _))

  def statement(name: String, detail: String = ""): StatementItem = StatementItem("statement", name, detail)
}
