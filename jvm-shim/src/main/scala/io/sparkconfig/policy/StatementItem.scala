package io.sparkconfig.policy

/**
 * A statement, or something that a statement names.
 *
 * @param kind `statement`, `function`, `path` or `source`, as in the rules
 * @param name the statement's kind such as `add-jar`, the class, the canonical path, the data source
 * @param detail what a statement names, such as the jar; `read` or `write` for paths and sources
 */
private[sparkconfig] final case class StatementItem(kind: String, name: String, detail: String = "")

private[sparkconfig] object StatementItem {
  val Read = "read"
  val Write = "write"

  def statement(name: String, detail: String = ""): StatementItem = StatementItem("statement", name, detail)
}
