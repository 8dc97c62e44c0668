package io.sparkconfig.policy.doors

import scala.util.control.NonFatal

import io.sparkconfig.core.{Json, NamedConnections}
import io.sparkconfig.policy.StatementItem
import io.sparkconfig.policy.StatementItem.statement
import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.SparkSqlParser
import org.apache.spark.sql.sparkconfig.SqlVariables

/**
 * The program behind `sparkconfig validate --statement`: what statements would ask the policies, read by Spark's
 * parser and by the walk of a server's door. Texts come as a list in JSON, and for each an answer goes out: a list of
 * items, or null if Spark cannot parse the text.
 */
private[sparkconfig] object StatementItems {

  def main(arguments: Array[String]): Unit = {
    val answers = Json.array()
    Json.texts(Json.parse(System.in.readAllBytes())).foreach { text =>
      try {
        val items = of(text)
        val answer = answers.addArray()
        items.foreach(item => answer.addArray().add(item.kind).add(item.name).add(item.detail))
      } catch { case NonFatal(_) => answers.addNull() }
    }
    println(new String(Json.bytes(answers), "UTF-8"))
  }

  private def of(text: String): Set[StatementItem] = {
    val variables = SqlVariables.ofServer(text).map(statement("variable", _))
    val walk = new Walk
    walk.plan(new SparkSqlParser().parsePlan(text))
    variables ++ walk.items
  }

  /** Without a catalog every name of two parts whose first is a data source counts as a path. */
  private final class Walk extends StatementWalk(
      new Configuration,
      {
        case Seq(source, _) => SourceNames.exists(source)
        case _ => false
      }) {
    private var connections = Set.empty[StatementItem]

    override def items: Set[StatementItem] = super.items ++ connections

    override def options(texts: scala.collection.Map[String, String], access: String): Unit = {
      super.options(texts, access)
      val all = texts.toMap
      NamedConnections.nameIn(all).foreach(name => connections ++= StatementItem.connection(name, all, access))
    }
  }
}
