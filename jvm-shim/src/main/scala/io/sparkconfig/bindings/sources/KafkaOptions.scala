package io.sparkconfig.bindings.sources

import java.util.Locale
import java.util.regex.Pattern

import io.sparkconfig.core.{Expression, Fingerprint, Values}

/**
 * Options of Kafka clients that hold references for `io.sparkconfig.kafka.ReferenceConfigProvider`. They stay as they
 * are until a client is built; on the driver they are tried before, so that an error names the option.
 */
private[sparkconfig] object KafkaOptions {
  private val Providers = "kafka.config.providers"
  private val ReferenceProvider = "io.sparkconfig.kafka.ReferenceConfigProvider"
  private val Servers = "kafka.bootstrap.servers"
  private val MarkDigits = 16

  /** Option key to what it will hold in the end, as an expression of ours; empty for anything but such maps. */
  def late(options: Map[String, String]): Map[String, Expression] = {
    val names = ours(options)
    if (names.isEmpty) Map.empty
    else {
      // Without our class these are references like any other.
      val plain = options.filterNot { case (_, text) => text == ReferenceProvider }
      options.collect {
        case (key, text) if text != null && names.exists(name => text.contains(opening(name))) =>
          key -> Expression.of(names.foldLeft(text)((left, name) => left.replace(opening(name), "${")), plain)
      }
    }
  }

  /**
   * The options of a writer, marked by the values that its producers will get. Spark shares producers by their
   * options: where these held the same references before and after a rotation, a task would get the producer with
   * the old password. Consumers get no mark: Spark makes new ones for each query, and refuses to share a
   * `kafka.group.id` among different options.
   *
   * @param values of [[late]]
   */
  def marked(options: Map[String, String], values: Map[String, String]): Map[String, String] =
    if (values.isEmpty) options
    else options + (s"$Providers.${ours(options).min}.param.mark" -> Fingerprint.of(values).take(MarkDigits))

  /**
   * The options with the brokers as a param of our provider, which Kafka does not tell it: each reference needs a grant
   * to go there, and gets it here, before a task makes a client. What else a user wrote there is gone.
   */
  def addressed(options: Map[String, String]): Map[String, String] = {
    val names = ours(options)
    if (names.isEmpty) options
    else {
      val params = names.map(name => s"$Providers.$name.param.brokers")
      val brokers = options.collectFirst { case (key, text) if key.equalsIgnoreCase(Servers) => text }
      for {
        name <- names
        text <- options.values if text != null
        found <- Pattern.quote(opening(name)).concat("([^}]*)\\}").r
          .findAllMatchIn(text.take(text.lastIndexOf('}') + 1)) // or else each beginning is looked through to the end
      } Values.allowConnection(Client, client(brokers, "${" + found.group(1) + "}"))
      options.filterNot { case (key, _) => params.exists(_.equalsIgnoreCase(key)) } ++
        brokers.toSeq.flatMap(text => params.map(_ -> text))
    }
  }

  /** As the policies call a client that asks our provider. */
  val Client: Seq[String] = Seq("kafka", "kafka-client")

  /** A client that asks our provider for a reference: which of its options holds it, it does not say. */
  def client(brokers: Option[String], reference: String): Map[String, String] =
    brokers.map(Servers -> _).toMap + (Providers -> reference)

  private def opening(name: String): String = "${" + name + ":"

  private def ours(options: Map[String, String]): Set[String] =
    options.collectFirst { case (key, names) if names != null && key.equalsIgnoreCase(Providers) => names } match {
      case None => Set.empty
      case Some(names) =>
        val classes = options.collect {
          case (key, ReferenceProvider) => key.toLowerCase(Locale.ROOT)
        }.toSet
        names.split(",").filter(name => classes(s"$Providers.$name.class".toLowerCase(Locale.ROOT))).toSet
    }
}
