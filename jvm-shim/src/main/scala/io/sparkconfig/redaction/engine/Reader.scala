package io.sparkconfig.redaction.engine

import java.util.{Collections, HashSet => JHashSet, LinkedHashMap, Map => JMap}

/** Who reads a text, and what of it is not masked to him. */
private[redaction] class Reader {

  /** A client could write a beginning or a block himself, and read from the mask whether a value begins so. */
  def isClient: Boolean = false

  def mayRead(needle: Needle): Boolean = false
}

private[redaction] object Reader {

  /** Of event logs, logs and pages. */
  val Anybody = new Reader
}

/**
 * A client of a server, who reads the answer to what he has written: that comes back as it is, right or wrong, so that
 * no mask tells him whether he has guessed a secret. If Spark has put a secret into his statement, in the place of a
 * variable, nothing tells the two apart in the answer. Then the literals of his statement are masked with it.
 *
 * @param texts his statement, and what else his request holds
 */
private[redaction] class Client(texts: => Iterable[String]) extends Reader {
  private lazy val written = texts.toVector
  private lazy val values = Client.valuesIn(written)

  private lazy val literals = {
    val made = new Search
    written.flatMap(Client.literals).foreach(text => Needles.of(text).forEach(needle => made.add(needle)))
    made
  }

  override def isClient: Boolean = true

  override def mayRead(needle: Needle): Boolean =
    needle.kind == Needle.Block || values.contains(needle.of) && !isMixed

  /** The same for later answers: of a long request, only what is known of it now is kept. */
  def kept: Client =
    if (written.map(_.length.toLong).sum <= Client.Longest) this
    else {
      val found = values
      new Client(Nil) {
        override def mayRead(needle: Needle): Boolean = needle.kind == Needle.Block || found.contains(needle.of)
      }
    }

  /** Whether Spark has put a secret into his statement: known once that has been parsed. */
  def isMixed: Boolean = written.exists(Client.Mixed.containsKey(_))

  /**
   * As the reader of an error. Those of some states are what Spark says of his statement and his data, and may hold
   * any text that it computes for him.
   * @param states of the error and its causes; null: it has none, and comes from outside
   */
  def ofError(states: Iterable[String]): Client =
    if ((this eq Client.Unknown) || isMixed || !states.forall(state =>
        state != null && Client.OwnStates.matcher(state).lookingAt()))
      this
    else Client.Author

  /** Adds what is masked together with a secret that Spark has put beside it. */
  def addLiterals(text: String, found: Intervals): Unit =
    if (isMixed) {
      val more = literals.find(text, Client.Unknown)
      (0 until more.size).foreach(i => found.add(more.start(i), more.end(i)))
    }
}

private[redaction] object Client {

  /** One of whom it is not known what he has written: whole values are masked. */
  val Unknown = new Client(Nil)

  /** One who has written all that he reads. */
  private val Author = new Client(Nil) {
    override def mayRead(needle: Needle): Boolean = true
  }

  /** Syntax, names, types, casts, what a statement raises. */
  private val OwnStates = java.util.regex.Pattern.compile("0A|2[1-4B]|42|P0")

  /** Notes that Spark has put a secret into this statement. */
  def mix(statement: String): Unit = { Mixed.put(statement, ()); () }

  /** By an id of Spark's, for answers that come with other calls. */
  final class ById {
    private val clients = recent[Client]()
    def put(id: String, client: Client): Unit = if (id.nonEmpty) { clients.put(id, client.kept); () }
    def get(id: String): Client = clients.getOrDefault(id, Unknown)
  }

  private val Longest = 1L << 16
  private val Mixed = recent[Unit]()

  private def recent[T](): JMap[String, T] =
    Collections.synchronizedMap(new LinkedHashMap[String, T](16, 0.75f, true) {
      override def removeEldestEntry(eldest: JMap.Entry[String, T]): Boolean = size > 1000
    })

  private def valuesIn(texts: Iterable[String]): JHashSet[String] = {
    val found = new JHashSet[String]()
    val collecting = new Reader {
      override def isClient: Boolean = true
      override def mayRead(needle: Needle): Boolean = { found.add(needle.of); true }
    }
    texts.foreach(text => Redactor.find(text, json = false, collecting))
    found
  }

  private val Literal = "(?s)'((?:[^'\\\\]|\\\\.|'')*+)'|\"((?:[^\"\\\\]|\\\\.|\"\")*+)\"".r

  private def literals(statement: String): Iterator[String] =
    Literal.findAllMatchIn(statement).map(found => Option(found.group(1)).getOrElse(found.group(2)))
      .flatMap(written => Canonical.forms(written).map(_.text))
      .flatMap(text => Iterator(text, text.replace("''", "'"), text.replace("\"\"", "\"")))
      .filter(CommonWords.worthRegistering)
}
