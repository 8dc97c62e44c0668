package io.sparkconfig.policy.doors

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.types.StringType

/** XPaths that a statement writes. Java's have functions besides those of the standard, which tell of the server. */
private[doors] object XPaths {
  private val Quoted = "\"[^\"]*\"|'[^']*'".r
  private val Blanks = " \t\r\n"

  /** What ends a name. */
  private val Marks = Blanks + "()[],|+*=<>!/@$\"'"

  /** Whether an argument may call a function that no surface file lists. Only literals are known. */
  def isOpen(argument: Expression): Boolean = argument match {
    case Literal(null, _) => false
    case Literal(text, _: StringType) => !called(Quoted.replaceAllIn(text.toString, "''")).forall(isListed)
    case _ => true
  }

  /** The name before each parenthesis, or an empty text. */
  private def called(path: String): Iterator[String] = path.indices.iterator.filter(path(_) == '(').map { at =>
    var end = at
    while (end > 0 && Blanks.indexOf(path(end - 1)) >= 0) end -= 1
    var begin = end
    while (begin > 0 && Marks.indexOf(path(begin - 1)) < 0) begin -= 1
    path.substring(begin, end).split("::").lastOption.mkString
  }

  private def isListed(name: String): Boolean =
    name.isEmpty || SqlSurface.of(s"xpath $name").exists(_.kind == "harmless")
}
