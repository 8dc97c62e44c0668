package io.sparkconfig.core

/** Where values come from: the side process on the driver, the driver's snapshot on an executor. */
trait ValueSource {

  /** The newest value of an expression; a text without references comes back as it is. */
  def resolve(expression: Expression): String

  /** Values of several expressions in their order, all of one generation, so that a user fits its password. */
  final def resolveAll(expressions: Seq[Expression]): Seq[String] = use(expressions).values

  /** As [[resolveAll]], with the generation. */
  def use(expressions: Seq[Expression]): Used

  /**
   * Their values again, after a peer has refused them: the stores of exactly these expressions are asked, each
   * (provider, path) once for all who were refused at the same time and at most once a second.
   *
   * @return what to use from now on; the same values where the stores have no others, or could not be asked in time
   */
  def renew(refused: Used): Used

  /** As [[use]], for a Python worker: the policy decides again what workers may ask for. */
  def useForWorker(expressions: Seq[Expression]): Used

  /** As [[use]], for an executor, which may ask for less than the driver. */
  def useForExecutor(expressions: Seq[Expression]): Used = use(expressions)

  /** The newest values, whether they are due or not: their stores are asked. */
  def useFresh(expressions: Seq[Expression]): Used = use(expressions)

  /** Values that code asks for by name: the policy decides, too, even about values that are held already. */
  def useNamed(expressions: Seq[Expression]): Used = use(expressions)

  /**
   * Asks the policies whether the references of a connection may go where it is about to be made.
   *
   * @param formats what its data source is called
   * @param options all that decides about the connection, as it was written
   * @param judged  the options that rules decide about if the server is shared: no door may have seen them
   * @throws SparkConfigException naming what is refused
   */
  def allowConnection(formats: Seq[String], options: Map[String, String], judged: Seq[String]): Unit = ()

  /** Whether people share this application, who run no code in it: then it opens only what has been allowed. */
  def isShared: Boolean = false

  /** The newest snapshot that this process holds. */
  def snapshot: Snapshot

  /** Asks for news now. Gives true if a newer generation came. */
  def refresh(): Boolean
}

private[sparkconfig] object ValueSource {

  /**
   * A task opens a connection that no door has let pass for its session. So its own code makes it, with references that
   * it asks for by name; on shared servers none may.
   */
  def withoutGrant(options: Map[String, String])(byName: Seq[Expression] => Any): Unit =
    try {
      NamedConnections.nameIn(options).foreach(name =>
        throw new SparkConfigException(s"the connection '$name' was not opened on the driver"))
      val references = options.values.filter(Expression.mayHold).map(Expression(_)).toSeq
      if (references.isEmpty) throw new SparkConfigException("the driver has not opened it")
      byName(references)
    } catch {
      case e: SparkConfigException => throw new SparkConfigException(
          s"No statement of this session has been allowed this connection, so a task may not open it: ${e.getMessage}")
    }
}

/**
 * The values of this process: the one thing that binding points ask. Spark creates connection providers,
 * credential providers and filters by itself, so they find their values here.
 */
object Values {
  @volatile private var source: ValueSource = Unconfigured

  def install(values: ValueSource): Unit = source = values

  /** Removes a source, unless another application in this JVM has put its own there since. */
  def uninstall(values: ValueSource): Unit = synchronized { if (source eq values) source = Unconfigured }

  def isInstalled: Boolean = source ne Unconfigured

  def snapshot: Snapshot = source.snapshot

  def refresh(): Boolean = source.refresh()

  def use(expressions: Seq[Expression]): Used = source.use(expressions)

  def renew(refused: Used): Used = source.renew(refused)

  def resolve(expression: Expression): String =
    if (Expression.mayHold(expression.text)) source.resolve(expression) else expression.text

  /** Values of several expressions in their order, all of one generation. */
  def resolveAll(expressions: Seq[Expression]): Seq[String] = source.resolveAll(expressions)

  /** As [[ValueSource.allowConnection]]: of options without references only on a shared server. */
  def allowConnection(formats: Seq[String], options: Map[String, String], judged: Seq[String] = Nil): Unit =
    if (decidesAbout(options) || (judged.nonEmpty && source.isShared)) source.allowConnection(formats, options, judged)

  /** Whether options hold references or name a connection. */
  def decidesAbout(options: Map[String, String]): Boolean =
    NamedConnections.isNamed(options) || options.exists { case (_, text) => Expression.mayHold(text) }

  /** As [[ValueSource.useNamed]]. */
  def useNamed(expressions: Seq[Expression]): Used = source.useNamed(expressions)

  /** Resolves all values of a map, in one generation; the keys stay. */
  def resolveMap(map: Map[String, String]): Map[String, String] = resolveMap(map, map)

  /** The same for a part of a map: `siblings` is the whole of it, whose keys the values may name (KIP-269). */
  def resolveMap(map: Map[String, String], siblings: Map[String, String]): Map[String, String] = {
    val held = map.toSeq.filter { case (_, value) => Expression.mayHold(value) }
    if (held.isEmpty) map
    else map ++ held.map(_._1).zip(source.resolveAll(held.map { case (_, value) => Expression.of(value, siblings) }))
  }

  private object Unconfigured extends ValueSource {
    override def resolve(expression: Expression): String = use(Seq(expression)).values.head
    override def use(expressions: Seq[Expression]): Used = throw new SparkConfigException(
      "A reference cannot be resolved in this process, since sparkconfig is not running here. " +
        "Set spark.plugins=io.sparkconfig.ConfigPlugin for the application.")
    override def useForWorker(expressions: Seq[Expression]): Used = use(expressions)
    override def snapshot: Snapshot = Snapshot.Empty
    override def refresh(): Boolean = false
    override def renew(refused: Used): Used = refused
  }
}
