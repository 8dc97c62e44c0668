package io.sparkconfig.core

import scala.collection.JavaConverters._

/** Who reads which confs and Hadoop keys besides Spark: Python goes by the same file. */
object Readers {
  private val data = {
    val stream = getClass.getResourceAsStream("/sparkconfig/data/readers.json")
    if (stream == null) throw new IllegalStateException("the jar of sparkconfig holds no readers.json")
    try Json.parse(stream.readAllBytes())
    finally stream.close()
  }

  private val hadoop: Seq[String] = Json.texts(data.get("hadoop"))

  private val connectors: Seq[String] =
    data.get("connectors").elements().asScala.map(_.get("prefix").asText).toSeq

  private val commands: Seq[String] =
    data.get("connectors").elements().asScala.flatMap(each => Json.texts(each.path("commands"))).toList

  /** Whether a provider's class is of a connector that makes commands of its own for its tables, or named like it. */
  def hasCommands(provider: String): Boolean = commands.exists { each =>
    provider.startsWith(each) || provider.equalsIgnoreCase(each)
  }

  /** Whether a session's conf of this name is read from its Hadoop configuration. */
  def isOfHadoop(key: String): Boolean = hadoop.exists(key.startsWith)

  /** Whether a connector reads a conf of this name by itself. */
  def isOfConnector(key: String): Boolean = connectors.exists(key.startsWith)

  /**
   * @param problem why a connector would use the text of a key; None: it would not
   * @throws SparkConfigException a connector reads the key by itself, and would use the text of the reference
   */
  def check(key: String, text: String, problem: (String, String) => Option[String]): Unit =
    if (Expression.mayHold(text) && isOfConnector(key)) {
      problem(key, text).foreach(why => throw new SparkConfigException(s"$why."))
    }
}
