package io.sparkconfig.redaction.sinks

import java.util.Locale.ROOT
import java.util.regex.Pattern.{compile => regex}

import io.sparkconfig.redaction.engine.{JsonStrings, Redactor, Spans}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, GenericInternalRow}
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, MapData}
import org.apache.spark.sql.types.{MapType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * What is free text in the answers of commands, by the names of the columns. Programs decide by the rest:
 * identifiers, locations, partition values, schemas, statistics and data stay true, even where one equals a secret.
 */
private[redaction] object Answers {
  type Mask = (Seq[InternalRow], Seq[Attribute]) => Seq[InternalRow]

  /** Columns of free text, whatever command they are from. */
  private val Texts = Map[String, String => String](
    "plan" -> Redactor.redactAnswer,
    "comment" -> Redactor.redactAnswer,
    "description" -> Redactor.redactAnswer,
    "properties" -> Redactor.redactAnswer,
    "options" -> Redactor.redactAnswer,
    "configuration" -> Redactor.redactAnswer,
    "value" -> Redactor.redactAnswer,
    "createtab_stmt" -> SqlText.redact,
    "function_desc" -> SqlText.redact,
    "procedure_desc" -> SqlText.redact,
    "information" -> Details.redact,
    "json_metadata" -> Details.redactJson)

  /** Two columns, of which the first says what the second holds. */
  private val Pairs = Map("col_name" -> "data_type", "info_name" -> "info_value")

  /** @return how the rows of a command with these columns are masked; None if all in them is for programs */
  def mask(columns: Seq[String]): Option[Mask] = {
    val names = columns.map(_.toLowerCase(ROOT))
    // A column that is called `value` is free text beside the key of a setting or property, or by itself.
    val texts = names.zipWithIndex.collect {
      case (name, i) if Texts.contains(name) && (name != "value" || i == 0 && names.size == 1 || names.head == "key") =>
        i -> Texts(name)
    }.toMap
    val pair = for {
      named <- names.headOption
      described <- Pairs.get(named)
      position = names.indexOf(described)
      if position > 0
    } yield position
    if (texts.isEmpty && pair.isEmpty) None
    else Some((rows, output) => if (Redactor.isEmpty) rows else masked(rows, output, texts, pair))
  }

  private def masked(
      rows: Seq[InternalRow],
      output: Seq[Attribute],
      texts: Map[Int, String => String],
      pair: Option[Int]): Seq[InternalRow] = {
    val details = new Details
    rows.map { row =>
      val ofPair = pair.filter { position => details.isText(text(row, 0, output)) && !row.isNullAt(position) }
      val changes = (texts ++ ofPair.map(_ -> (Redactor.redactAnswer(_: String)))).flatMap { case (i, redact) =>
        changed(row, i, output, redact).map(i -> _)
      }
      if (changes.isEmpty) row
      else new GenericInternalRow(output.indices.map { i =>
        changes.getOrElse(i, if (row.isNullAt(i)) null else row.get(i, output(i).dataType))
      }.toArray[Any])
    }
  }

  private def text(row: InternalRow, i: Int, output: Seq[Attribute]): String =
    if (output(i).dataType.isInstanceOf[StringType] && !row.isNullAt(i)) row.getUTF8String(i).toString else ""

  private def changed(row: InternalRow, i: Int, output: Seq[Attribute], redact: String => String): Option[Any] =
    if (row.isNullAt(i)) None
    else output(i).dataType match {
      case _: StringType => changed(row.getUTF8String(i), redact)
      case MapType(keys, _: StringType, _) => changed(row.getMap(i), redact)
      case _ => None
    }

  private def changed(text: UTF8String, redact: String => String): Option[UTF8String] = {
    val raw = text.toString
    val safe = redact(raw)
    if (safe eq raw) None else Some(UTF8String.fromString(safe))
  }

  private def changed(map: MapData, redact: String => String): Option[MapData] = {
    val values = map.valueArray()
    val safe = (0 until map.numElements()).map { i =>
      if (values.isNullAt(i)) null
      else { val old = values.getUTF8String(i); changed(old, redact).getOrElse(old) }
    }
    if (safe.indices.forall(i => values.isNullAt(i) || (safe(i) eq values.getUTF8String(i)))) None
    else Some(ArrayBasedMapData.apply(map.keyArray().array, safe.toArray[Any]))
  }
}

/** Follows the rows of a `DESCRIBE`: first the schema, then named details. */
private[redaction] final class Details {
  private var inDetails = false

  /** Whether the text beside this name is free text. */
  def isText(name: String): Boolean =
    if (name.startsWith("# Detailed") || name.startsWith("# Storage")) { inDetails = true; false }
    else Details.TextOfColumns(name) || inDetails && !Details.isForPrograms(name)
}

private[redaction] object Details {

  /** Without a schema above them, these are named details too: of namespaces. */
  private val TextOfColumns = Set("comment", "Comment", "Properties", "Description")

  /** What a detail of a table, partition or namespace is about, in lower case, where a program may decide by it. */
  private val ForPrograms =
    """catalog;catalog name;database;namespace;namespace name;table;name;table name;schema name;function name;owner;
       type;
       created by;created time;last access;provider;collation;location;path;serde library;inputformat;outputformat;
       input format;output format;bucket columns;sort columns;num buckets;compressed;partition provider;
       partition columns;partition values;clustering columns;schema;statistics;partition statistics;is managed table;
       external;view catalog and namespace;view schema mode;view query output columns;col name;data type;min;max;
       num nulls;distinct count;avg col len;max col len;histogram;id;version;class;input;returns;
       deterministic;columns""".split(";").map(_.trim.replaceAll("\\s+", " ")).toSet

  def isForPrograms(name: String): Boolean = ForPrograms(name.trim.toLowerCase(ROOT).replace('_', ' '))

  private val Line = regex("([A-Za-z][A-Za-z_ ]*):.*")

  /** The block of `SHOW TABLE EXTENDED`: one detail a line; a line without a name belongs to the one before. */
  def redact(block: String): String = {
    val keep = new Spans
    var start = 0
    var forPrograms = false
    while (start < block.length) {
      val newline = block.indexOf('\n', start)
      val end = if (newline < 0) block.length else newline
      val line = Line.matcher(block).region(start, end)
      if (line.matches()) forPrograms = isForPrograms(line.group(1))
      if (forPrograms) keep.add(start, end)
      start = end + 1
    }
    Redactor.redactExcept(block, json = false, keep, answer = true)
  }

  private val JsonTexts = Set("comment", "default", "default value", "current default value", "exists default value")

  /** The document of `DESCRIBE ... AS JSON`: its keys and what is for programs stay. */
  def redactJson(document: String): String = {
    val keep = new Spans
    JsonStrings.each(document) { (start, end, isKey, path) =>
      val names = path.map(_.toLowerCase(ROOT).replace('_', ' '))
      val kept = isKey && !names.exists(_.endsWith("properties")) ||
        names.nonEmpty && !JsonTexts(names.head) && names.exists(isForPrograms) && !names.exists(
          _.endsWith("properties"))
      if (kept) keep.add(start, end)
    }
    Redactor.redactExcept(document, json = true, keep, answer = true)
  }
}
