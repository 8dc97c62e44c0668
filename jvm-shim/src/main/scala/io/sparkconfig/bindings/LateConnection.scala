package io.sparkconfig.bindings

import java.sql.{Connection, SQLException}

import io.sparkconfig.core.{NamedConnections, RefusedConnection, SparkConfigException, Target, Values}
import org.slf4j.LoggerFactory

/** Connections whose references are resolved when they are opened. */
private[bindings] object LateConnection {
  private val log = LoggerFactory.getLogger(getClass)

  /** @param target URL and properties, with the values of the moment: asked for again after a refusal */
  def open(target: => Target)(connect: Target => Connection): Connection = {
    val first = target
    try connect(first)
    catch {
      case refused: SQLException if first.used.expressions.nonEmpty => afterRefusal(first, refused, target, connect)
    }
  }

  /**
   * A rotation may have overtaken what this process holds: the stores of this connection's references are asked, and
   * only if they have something else it tries again, once, since repeated failures lock accounts.
   */
  private def afterRefusal(
      first: Target,
      refused: SQLException,
      target: => Target,
      connect: Target => Connection): Connection = {
    val suspects = RefusedConnection.suspects(first, refused)
    if (suspects.expressions.isEmpty)
      throw RefusedConnection.error(refused, first, "no store was asked, since no server was reached")
    val second =
      try if (Values.renew(suspects).sameAs(suspects)) first else target
      catch {
        case e: SparkConfigException =>
          val outcome = first.connection.fold(e.getMessage)(NamedConnections.withheld(_, e))
          throw RefusedConnection.error(refused, first, outcome)
      }
    if (second.sameAs(first)) throw RefusedConnection.error(refused, first, "the stores have no newer values")
    log.info("a JDBC connection was refused; trying once more with generation {}", second.used.generation)
    try connect(second)
    catch {
      case again: SQLException => throw RefusedConnection.error(
          again,
          second,
          s"the values from generation ${first.used.generation} were refused before")
    }
  }
}
