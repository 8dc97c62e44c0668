package io.sparkconfig.policy.doors

import java.util.concurrent.ConcurrentHashMap

import scala.collection.JavaConverters._
import scala.collection.mutable
import scala.util.control.NonFatal

import com.github.luben.zstd.ZstdInputStream
import io.sparkconfig.policy.StatementItem.statement
import io.sparkconfig.policy.{PolicyClient, Requester, StatementItem, Verdict}
import org.apache.hadoop.conf.Configuration
import org.apache.spark.connect.proto.{Command, Relation}
import org.apache.spark.sql.connect.sparkconfig.ClientRows
import org.apache.spark.sql.sparkconfig.PolicyViolationException
import org.apache.spark.{SPARK_VERSION, SparkContext}
import org.sparkproject.connect.protobuf.Descriptors.FieldDescriptor
import org.sparkproject.connect.protobuf.Descriptors.FieldDescriptor.{JavaType, Type}
import org.sparkproject.connect.protobuf.{ByteString, CodedInputStream, Message}

/**
 * What a Connect client sends, before the server reads it: the planner would load the classes of functions and start
 * Python before there is a plan. `surface/connect.json` decides each field; what it does not know is refused.
 */
private[sparkconfig] object ConnectStatements {
  private val Package = "spark.connect."
  private val AnyType = "google.protobuf.Any"

  /** The server's own limits. */
  private val MostBytes = 256 << 20

  /** Few bytes may stand for so many more, or rows that repeat themselves for a hundred times what was sent. */
  private val FewBytes = 16 << 20
  private val Repeated = 100L

  /** Of the heap, for the rows of one request. */
  private val MemoryShare = 4
  private val Deepest = 1024
  private val MostNames = 100
  private val Longest = 200

  /** In the name of a database; see [[StatementWalk.leadsAway]]. */
  private val Folders = raw"[/\\%]|\.\.|(^|`)\.(`|$$)".r

  /** A field that a message of somebody's has, with what the verdict on it says besides. */
  private final case class Found(
      message: Message,
      field: FieldDescriptor,
      argument: String,
      who: Requester,
      rows: SentRows) {
    def value: AnyRef = message.getField(field)

    def all: Seq[Any] = value match {
      case each: java.util.List[_] => each.asScala.toSeq
      case one => Seq(one)
    }

    def texts: Seq[String] = all.collect { case text: String if text.nonEmpty => text }

    def options: Map[String, String] = entriesOf(value)
  }

  /** What the verdicts of the file mean: what is asked about. Of the first three, others ask when there is a plan. */
  private val Verdicts: Map[String, Found => Iterable[StatementItem]] = Map(
    "harmless" -> (_ => Nil),
    "asks:plan" -> (_ => Nil),
    "asks:conf" -> (_ => Nil),
    "asks:session" -> guarded,
    "refused" -> (found => Seq(statement(found.field.getFullName, packed(found)))),
    "asks:statement" -> (found => Seq(statement(found.argument.replace("*", kebab(found.field.getName))))),
    "asks:class" -> (found =>
      found.texts.flatMap(name => Seq(statement(found.argument, name), StatementItem("function", name)))),
    "asks:path" -> (found =>
      found.texts.map(StatementItem.path(_, found.argument, hadoop))),
    "asks:source" -> (found =>
      walked { walk =>
        found.texts.foreach(walk.source(_, found.argument))
        val beside = found.message.getAllFields.asScala.map { case (field, value) => field.getName -> value }
        // Where a table is named, its place is told to the catalog.
        if (!beside.keySet.exists(Set("table", "table_name"))) {
          val options = beside.get("options").toSeq.flatMap(entriesOf(_).keys)
          found.texts.foreach(walk.readsPlace(_, options, beside.get("path")))
        }
      }),
    "asks:options" -> (found =>
      if (StatementWalk.isFlood(found.options)) Seq(StatementWalk.Flood)
      else (found.options.keys ++ found.options.values).flatMap(typeIn) ++
        (if (found.argument.isEmpty) Nil else walked(_.options(found.options, found.argument)))),
    "asks:few" -> (found => if (found.all.size > MostNames) Seq(StatementWalk.Flood) else Nil),
    "asks:namespace" -> (_.texts.filter(Folders.findFirstIn(_).isDefined).map(statement("place-in-name", _))),
    "asks:type" -> (_.texts.flatMap(typeIn)),
    "asks:rows" -> (found =>
      found.all.flatMap { case rows: ByteString =>
        found.rows.problem(ArrowRows.taken(() => rows.newInput(), rows.size.toLong), rows.size.toLong, found)
      }),
    "asks:cached-rows" -> (found =>
      found.texts.flatMap(name =>
        found.rows.named(name, found).fold(Option(notSent(found))) {
          case (taken, length) => found.rows.problem(taken, length, found)
        })),
    "asks:artifact" -> (_.texts.map(artifact)))

  /**
   * A session that this request makes has its guard before it has the conf, which is judged before Spark looks for a
   * class in it. What is set silently, as a client begins, is told as a warning.
   */
  private def guarded(found: Found): Seq[StatementItem] = {
    val isSilent = found.all.exists { case set: Message => field(set, "silent").exists(set.getField(_) == true) }
    ClientRows.session(found.who.user, found.who.session).foreach { session =>
      SessionDoor.check(session)
      if (!isSilent) found.all.collect { case set: Message => value(set, "pairs") }.foreach {
        case pairs: java.util.List[_] => pairs.asScala.collect { case pair: Message => entryOf(pair) }
            .foreach { case (key, text) => SessionDoor.setting(session, key, text) }
      }
    }
    Nil
  }

  private def notSent(found: Found): StatementItem = statement(found.field.getFullName, "what was not sent ahead")

  /** Of one request, what Spark takes for all rows in it, and how much of them was sent. */
  private final class SentRows {
    private val named = mutable.Map.empty[String, Option[(Option[Long], Long)]]
    private var taken = 0L
    private var sent = 0L

    /** What was sent ahead under this name counts as sent once, as often as it is named. */
    def named(name: String, found: Found): Option[(Option[Long], Long)] = {
      val before = named.get(name).map(_.map { case (taken, _) => (taken, 0L) })
      before.getOrElse(named.getOrElseUpdate(name, ConnectRows.taken(found.who, name)))
    }

    def problem(more: Option[Long], length: Long, found: Found): Option[StatementItem] = {
      sent += length
      taken += more.getOrElse(0L)
      val most = math.min(Runtime.getRuntime.maxMemory / MemoryShare, FewBytes + Repeated * sent)
      if (more.isEmpty) Some(statement(found.field.getFullName, "rows that cannot be read without leaving them"))
      else if (taken > most) Some(statement(found.field.getFullName, "more rows than the server has memory for"))
      else None
    }
  }

  /** Verdicts on what holds a message in another form: that message is walked, too. */
  private val Inner: Map[String, Found => Seq[Message]] = Map(
    "reads:compressed-plan" -> (found => Seq(decompressed(found.message))),
    "reads:cached-relation" -> (found => found.texts.flatMap(ConnectRows.relation(found.who, _))),
    "reads:cached-schema" -> (found => found.texts.flatMap(ConnectRows.schema(found.who, _))))

  private lazy val surface =
    Surface.read(Seq(Surface.text("connect.json")), Verdicts.keySet ++ Inner.keySet, SPARK_VERSION)

  private val decided = new ConcurrentHashMap[FieldDescriptor, Surface.Verdict]()

  /** Reads the file: one that is wrong stops the start. */
  def check(): Unit = StatementDoor.asked.foreach(_ => surface)

  /** Why a message of a client is refused, if it is; `more` is asked about besides. */
  def problem(message: Any, more: Set[StatementItem] = Set.empty): Option[String] = message match {
    case request: Message => StatementDoor.asked.flatMap { policies =>
        val verdict =
          try {
            // First: to judge what it sets, a session is made.
            val session = policies.statement(moreSessions(policies, request), who(request))
            if (session.allowed) policies.statement(items(request) ++ more, who(request)) else session
          } catch {
            case refused: PolicyViolationException => Verdict(allowed = false, refused.getMessage, Nil)
            case NonFatal(e) =>
              Verdict(allowed = false, s"the policies cannot read this request: ${e.getClass.getSimpleName}", Nil)
          }
        if (verdict.allowed) None else Some(verdict.message)
      }
    case _ => None
  }

  /** The second field is that of a session that becomes a copy of the first. */
  private def moreSessions(policies: PolicyClient, request: Message): Set[StatementItem] =
    Set("session_id", "new_session_id").flatMap(text(request, _))
      .flatMap(session => policies.moreSessions(ClientRows.before(who(request).user, session)))

  private def who(request: Message): Requester = {
    val user = field(request, "user_context").map(request.getField(_)).collect { case context: Message => context }
    Requester(user.flatMap(text(_, "user_id")).mkString, text(request, "session_id").mkString, Requester.Connect)
  }

  private def items(request: Message): Set[StatementItem] = {
    val found = mutable.LinkedHashSet.empty[StatementItem]
    val client = who(request)
    val rows = new SentRows
    val waiting = mutable.Stack[Message](request)
    while (waiting.nonEmpty) {
      val message = waiting.pop()
      if (!message.getUnknownFields.asMap.isEmpty)
        found += statement(message.getDescriptorForType.getFullName, "fields that this version of Spark does not know")
      message.getAllFields.keySet.forEach { field =>
        val verdict = decided.computeIfAbsent(field, verdictOn(_))
        val each = Found(message, field, verdict.argument, client, rows)
        Verdicts.get(verdict.kind).foreach(asks => found ++= asks(each))
        waiting.pushAll(below(each))
        Inner.get(verdict.kind).foreach { read =>
          val inner = read(each)
          if (inner.isEmpty) found += notSent(each)
          waiting.pushAll(inner)
        }
      }
    }
    found.toSet
  }

  private def verdictOn(field: FieldDescriptor): Surface.Verdict =
    surface.of(field.getFullName.stripPrefix(Package)).getOrElse(Surface.Verdict(byKind(field), ""))

  /** What needs no line in the file: numbers, and messages that are walked. */
  private def byKind(field: FieldDescriptor): String = field.getJavaType match {
    case JavaType.STRING | JavaType.BYTE_STRING => "refused"
    case JavaType.MESSAGE if isAny(field) || field.isMapField || field.getRealContainingOneof != null => "refused"
    case _ => "harmless"
  }

  private def below(found: Found): Seq[Message] =
    if (found.field.getType != Type.MESSAGE || isAny(found.field)) Nil
    else if (found.field.isMapField) found.all.collect { case entry: Message => entry }.flatMap { entry =>
      Seq(entry.getField(field(entry, "value").get)).collect { case value: Message => value }
    }
    else found.all.collect { case message: Message => message }

  private def isAny(field: FieldDescriptor): Boolean =
    field.getJavaType == JavaType.MESSAGE && field.getMessageType.getFullName == AnyType

  /** What a packed message is called, for rules that allow one. */
  private def packed(found: Found): String = found.all.collect {
    case any: Message if isAny(found.field) => text(any, "type_url").mkString.split('/').last.take(Longest)
  }.mkString(", ")

  /** Rows of a DataFrame are sent ahead under `cache/`; everything else is code, or a file for code. */
  private def artifact(name: String): StatementItem =
    if (name.matches(s"${ConnectRows.Place}[0-9A-Za-z]+")) statement("cache-data") else statement("add-artifact", name)

  private def walked(walks: StatementWalk => Unit): Set[StatementItem] = {
    val walk = new StatementWalk(hadoop, _ => false)
    walks(walk)
    walk.items
  }

  /** Types as JSON may name classes, and hold SQL as default values. */
  private def typeIn(text: String): Seq[StatementItem] =
    Seq("udt").filter(_ => TypeTexts.holdsUdt(text)).map(statement(_)) ++
      StatementDoor.nesting(text) ++
      Seq(ColumnDefaults.Refused).filter(_ => ColumnDefaults.inJson(text)).map(statement(_))

  private def hadoop: Configuration = SparkContext.getOrCreate().hadoopConfiguration

  private def decompressed(message: Message): Message = {
    val sent = value(message, "data").asInstanceOf[ByteString]
    val most = math.min(MostBytes, FewBytes + Repeated * sent.size).toInt
    val stream = new ZstdInputStream(sent.newInput())
    val bytes =
      try stream.readNBytes(most)
      finally stream.close()
    if (bytes.length >= most) throw new IllegalArgumentException("the plan is too large")
    val input = CodedInputStream.newInstance(bytes)
    input.setRecursionLimit(Deepest)
    if (value(message, "op_type").toString.endsWith("RELATION")) Relation.parseFrom(input) else Command.parseFrom(input)
  }

  private def value(message: Message, name: String): AnyRef = message.getField(field(message, name).get)

  private def text(message: Message, name: String): Option[String] =
    field(message, name).map(message.getField(_)).collect { case text: String => text }

  private def field(message: Message, name: String): Option[FieldDescriptor] =
    Option(message.getDescriptorForType.findFieldByName(name))

  private def entriesOf(map: AnyRef): Map[String, String] = map match {
    case entries: java.util.List[_] => entries.asScala.collect { case entry: Message => entryOf(entry) }.toMap
    case _ => Map.empty
  }

  private def entryOf(entry: Message): (String, String) = value(entry, "key").toString -> value(entry, "value").toString

  private def kebab(name: String): String = name.replace('_', '-')
}
