package io.sparkconfig.core

import java.net.{ConnectException, NoRouteToHostException, SocketTimeoutException, UnknownHostException}
import java.nio.charset.StandardCharsets.UTF_8
import java.sql._

import org.apache.spark.sql.sparkconfig.OptionReferenceException

/** What a refused connection says of its references; the database driver's own error stays what it is. */
private[sparkconfig] object RefusedConnection {
  private val Reference = java.util.regex.Pattern.compile("\\$\\{[^{}]*\\}")
  private val LongestName = 200

  /** PostgreSQL's longest name: of a longer user it quotes the beginning, which no redaction takes for the value. */
  private val LongestUser = 63

  /**
   * The values that may be to blame: where no server was reached, only the references that say where it is. A
   * database that is down must not make every executor ask for new passwords, or draw new leases.
   */
  def suspects(target: Target, refused: SQLException): Used =
    if (causes(refused).exists(isUnreachable)) target.part(_ == Target.Url) else target.used

  /**
   * What Spark gets: the driver's error with a line more, or, where Spark would only say that it could not connect,
   * an error of Spark's own kind with all of that.
   */
  def error(thrown: SQLException, target: Target, outcome: String): Exception = {
    val refused = if (isCut(target)) withheld(thrown) else thrown
    val by = target.connection.fold(names(target))(name => s"the connection '$name'")
    val note = s"[sparkconfig] this connection used $by from generation ${target.used.generation}; $outcome"
    val told = explained(refused, note)
    if (isHiddenBySpark) {
      val state = Option(refused.getSQLState).map(text => s" (SQLState $text)").getOrElse("")
      new OptionReferenceException(
        s"A connection of the data source 'jdbc' was refused: ${refused.getMessage}$state\n$note",
        told)
    } else told
  }

  private def isCut(target: Target): Boolean = target.keys.exists(key =>
    key.equalsIgnoreCase("user") && target.properties(key).getBytes(UTF_8).length > LongestUser)

  private def withheld(thrown: SQLException): SQLException = new SQLException(
    s"the database's text is withheld: it may quote a part of the user's name, which has more than $LongestUser bytes",
    thrown.getSQLState,
    thrown.getErrorCode)

  /** Where Spark reads a table's schema, it puts an error without the database's text in front. */
  private def isHiddenBySpark: Boolean =
    Thread.currentThread.getStackTrace.exists(_.getMethodName.contains("classifyException"))

  /** The driver's error with its message, SQLState, vendor code and kind, as `java.sql` tells them apart. */
  private def explained(refused: SQLException, note: String): SQLException = {
    val message = s"${refused.getMessage}\n$note"
    val state = refused.getSQLState
    val code = refused.getErrorCode
    val made = refused match {
      case _: SQLInvalidAuthorizationSpecException =>
        new SQLInvalidAuthorizationSpecException(message, state, code, refused)
      case _: SQLNonTransientConnectionException =>
        new SQLNonTransientConnectionException(message, state, code, refused)
      case _: SQLTransientConnectionException => new SQLTransientConnectionException(message, state, code, refused)
      case _: SQLTimeoutException => new SQLTimeoutException(message, state, code, refused)
      case _: SQLNonTransientException => new SQLNonTransientException(message, state, code, refused)
      case _: SQLTransientException => new SQLTransientException(message, state, code, refused)
      case _: SQLRecoverableException => new SQLRecoverableException(message, state, code, refused)
      case _ => new SQLException(message, state, code, refused)
    }
    Option(refused.getNextException).foreach(made.setNextException)
    made
  }

  /** `'password' (${vault:db/prod:password})` and so on: never the text around references, which may hold a value. */
  private def names(target: Target): String =
    target.keys.zip(target.used.expressions).sortBy(_._1).map { case (key, expression) =>
      val found = Reference.matcher(expression.text)
      val references = Iterator.continually(found).takeWhile(_.find()).map(_.group).map(short).toList.distinct
      s"'${Target.option(key)}'" + (if (references.isEmpty) "" else references.mkString(" (", ", ", ")"))
    }.mkString(", ")

  private def short(name: String): String = if (name.length <= LongestName) name else name.take(LongestName) + "...}"

  private def isUnreachable(cause: Throwable): Boolean = cause match {
    case _: ConnectException | _: UnknownHostException | _: NoRouteToHostException | _: SocketTimeoutException => true
    case _ => false
  }

  private def causes(error: Throwable): Iterator[Throwable] =
    Iterator.iterate(error)(_.getCause).takeWhile(_ != null).take(20)
}
