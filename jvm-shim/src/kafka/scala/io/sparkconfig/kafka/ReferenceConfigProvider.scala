package io.sparkconfig.kafka

import java.util.{HashMap => JHashMap, Map => JMap, Set => JSet}

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import io.sparkconfig.bindings.sources.KafkaOptions
import io.sparkconfig.core.{SparkConfigException, Values}
import org.apache.kafka.common.config.ConfigData
import org.apache.kafka.common.config.provider.ConfigProvider
import org.slf4j.LoggerFactory

/**
 * Lets Kafka's clients resolve references themselves, each time that one is built, on the driver and on executors
 * (KIP-421): `${sparkconfig:vault:db/prod:password}` gets the value of `${vault:db/prod:password}`.
 *
 * {{{
 *   kafka.config.providers=sparkconfig
 *   kafka.config.providers.sparkconfig.class=io.sparkconfig.kafka.ReferenceConfigProvider
 * }}}
 *
 * It is in a jar of its own, which belongs beside kafka-clients: Spark's own class loader has to find the other jar's
 * classes, and does not find kafka-clients when that comes with `--packages` or `--jars`.
 */
class ReferenceConfigProvider extends ConfigProvider {
  private val log = LoggerFactory.getLogger(classOf[ReferenceConfigProvider])

  @volatile private var brokers: Option[String] = None

  /**
   * The driver sets both params: the mark by which Spark's pool tells the producers of two credentials apart, and the
   * brokers of the client, of which Kafka tells a provider nothing.
   */
  override def configure(params: JMap[String, _]): Unit = {
    params.keySet.asScala.find(name => !ReferenceConfigProvider.Params(name)).foreach { name =>
      throw new SparkConfigException(s"kafka.config.providers: ReferenceConfigProvider has no param '$name'")
    }
    brokers = Option(params.get(ReferenceConfigProvider.Brokers)).map(_.toString)
  }

  /** @throws SparkConfigException always: a provider of ours need not be able to list its keys */
  override def get(path: String): ConfigData = throw new SparkConfigException(
    "ReferenceConfigProvider answers for single keys, and not for all keys of a path")

  /**
   * All keys in one generation, so that a user fits its password.
   *
   * @param path the name of a provider in `spark.config.providers`
   * @param keys what follows that name: `[path:]key`
   * @throws SparkConfigException naming each reference that has no value, and why; or a policy refuses to let one of
   *   them go to these brokers
   */
  override def get(path: String, keys: JSet[String]): ConfigData = {
    val written = keys.asScala.map(key => key -> s"$${$path:$key}").toMap
    if (path.isEmpty) throw new SparkConfigException(
      s"${written.keys.mkString("'", "', '", "'")} names no provider: write " +
        "${sparkconfig:PROVIDER:PATH:KEY}, with a name from spark.config.providers")
    written.values.foreach(each => Values.allowConnection(KafkaOptions.Client, KafkaOptions.client(brokers, each)))
    askForNews()
    val values = Values.resolveMap(written)
    // What other languages expand, or spark.config.unresolved=keep leaves: to Kafka it would be the password.
    val left = written.collect { case (key, text) if values(key) == text => text }
    if (left.nonEmpty)
      throw new SparkConfigException(s"${left.mkString(", ")} cannot be resolved: no provider answers it")
    val data = new JHashMap[String, String]()
    values.foreach { case (key, value) => data.put(key, value) }
    new ConfigData(data)
  }

  override def close(): Unit = ()

  /** A client keeps what it is built with, and is built seldom: an executor does not rely on its last poll. */
  private def askForNews(): Unit =
    try Values.refresh()
    catch { case NonFatal(e) => log.warn("no news from the driver: {}", e.getClass.getName) }
}

private[kafka] object ReferenceConfigProvider {
  val Mark = "mark"
  val Brokers = "brokers"
  private val Params = Set(Mark, Brokers)
}
