package io.sparkconfig.redaction.sinks

/** The sinks of a JVM. */
private[sparkconfig] object Sinks {

  /** In the order in which they are hooked and named. */
  val all: Seq[Sink] = Seq(
    EventLogListener,
    UiFilter,
    LogRedaction,
    StreamRedaction,
    ConnectServer,
    ThriftClients,
    CommandOutput,
    DriverProgram)

  /** As one text for a log line. */
  def names: String = all.map(_.name).mkString(", ")

  /** Hooks the sinks of a stage. */
  def install(stage: Stage): Unit = all.foreach(_.install.applyOrElse(stage, (_: Stage) => ()))

  /** As [[install]]; returns what cannot be hooked, each with the reason. */
  def attempt(stage: Stage): Seq[String] = all.filter(_.install.isDefinedAt(stage)).flatMap { sink =>
    try { sink.install(stage); None }
    catch { case e: IllegalStateException => Some(s"${sink.name}: ${e.getMessage}") }
  }
}
