package sparkconfigtest

import java.util
import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue}

import scala.collection.JavaConverters._

import org.apache.spark.rdd.RDD
import org.apache.spark.sql._
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.connector.read.streaming.{MicroBatchStream, Offset}
import org.apache.spark.sql.connector.write._
import org.apache.spark.sql.connector.write.streaming.{StreamingDataWriterFactory, StreamingWrite}
import org.apache.spark.sql.execution.streaming.Sink
import org.apache.spark.sql.sources._
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.types.{LongType, StructField, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** A store in memory that lets in only who shows the password of the moment. */
object Store {
  @volatile var password: String = ""
  val rows = new ConcurrentLinkedQueue[java.lang.Long]()

  /** What sources were given that was not the password, as far as it can be shown. */
  val refused = new ConcurrentLinkedQueue[String]()
  val schema: StructType = new StructType().add("id", LongType)

  def setPassword(value: String): Unit = password = value
  private val entered = new ConcurrentLinkedQueue[String]()
  def entries(place: String): Int = entered.asScala.count(_ == place)
  def clear(): Unit = { rows.clear(); refused.clear(); entered.clear() }
  def put(id: Int): Unit = rows.add(id.toLong)
  def refusals(): String = refused.asScala.mkString("; ")
  def ids(): util.List[java.lang.Long] = new util.ArrayList(rows)

  def enter(place: String, options: scala.collection.Map[String, String]): Unit = {
    val shown = options.collectFirst { case (key, value) if key.equalsIgnoreCase("password") => value }
    if (!shown.contains(password)) {
      val kind = shown match {
        case None => "nothing"
        case Some(text) if text.contains("${") => "a reference"
        case _ => "another password"
      }
      refused.add(s"$place: $kind")
      throw new SecurityException(s"authentication failed: $place was given $kind")
    }
    entered.add(place)
  }
}

/** A V1 source and sink. */
class V1Source
  extends RelationProvider with SchemaRelationProvider with CreatableRelationProvider with StreamSinkProvider
  with DataSourceRegister {
  override def shortName(): String = "storev1"
  override def createRelation(context: SQLContext, options: Map[String, String]): BaseRelation = {
    Store.enter("V1 createRelation", options)
    new V1Relation(context, options)
  }
  override def createRelation(context: SQLContext, options: Map[String, String], schema: StructType): BaseRelation =
    createRelation(context, options)
  override def createRelation(
      context: SQLContext,
      mode: SaveMode,
      options: Map[String, String],
      data: DataFrame): BaseRelation = {
    Store.enter("V1 write", options)
    data.collect().foreach(row => Store.rows.add(row.getLong(0)))
    new V1Relation(context, options)
  }
  override def createSink(
      context: SQLContext,
      options: Map[String, String],
      columns: Seq[String],
      mode: OutputMode): Sink = {
    Store.enter("V1 createSink", options)
    new Sink {
      override def addBatch(id: Long, data: DataFrame): Unit = {
        Store.enter("V1 addBatch", options)
        data.queryExecution.toRdd.map(_.getLong(0)).collect().foreach(id => Store.rows.add(id))
      }
    }
  }
}

class V1Relation(context: SQLContext, options: Map[String, String])
  extends BaseRelation with TableScan with InsertableRelation {
  override def sqlContext: SQLContext = context
  override def schema: StructType = Store.schema
  override def buildScan(): RDD[Row] = {
    Store.enter("V1 buildScan", options)
    context.sparkContext.parallelize(Store.ids().asScala.map(id => Row(id.longValue)).toList, 1)
  }
  override def insert(data: DataFrame, overwrite: Boolean): Unit = {
    Store.enter("V1 insert", options)
    data.collect().foreach(row => Store.rows.add(row.getLong(0)))
  }
}

/** Connects when it is used, as several sources do that are given a schema; `columns` are those of the store. */
class LazyV1Source extends RelationProvider with SchemaRelationProvider {
  override def createRelation(context: SQLContext, options: Map[String, String]): BaseRelation = {
    val columns = options.collectFirst { case (key, names) if key.equalsIgnoreCase("columns") => names }.getOrElse("id")
    createRelation(context, options, new StructType(columns.split("-").map(StructField(_, LongType))))
  }
  override def createRelation(context: SQLContext, options: Map[String, String], given: StructType): BaseRelation =
    new V1Relation(context, options) {
      override def schema: StructType = given
      // The column whose name comes first.
      override def insert(data: DataFrame, overwrite: Boolean): Unit =
        super.insert(data.select(data.columns(given.fieldNames.zipWithIndex.min._2)), overwrite)
    }
}

/** A sink of V1 streams that connects with its first batch, as Hudi's does. */
class LateV1Sink extends StreamSinkProvider {
  override def createSink(
      context: SQLContext,
      options: Map[String, String],
      columns: Seq[String],
      mode: OutputMode): Sink = new Sink {
    override def addBatch(id: Long, data: DataFrame): Unit = Store.enter("V1 addBatch", options)
  }
}

/** Its rows are the options that it was given. */
class TellingV1Source extends RelationProvider with SchemaRelationProvider with CreatableRelationProvider {
  override def createRelation(context: SQLContext, options: Map[String, String]): BaseRelation =
    createRelation(context, options, TellingV1Source.schema)
  override def createRelation(context: SQLContext, options: Map[String, String], given: StructType): BaseRelation =
    new BaseRelation with TableScan {
      override def sqlContext: SQLContext = context
      override def schema: StructType = given
      override def buildScan(): RDD[Row] =
        context.sparkContext.parallelize(options.toList.map { case (key, text) => Row(key, text) }, 1)
    }
  override def createRelation(
      context: SQLContext,
      mode: SaveMode,
      options: Map[String, String],
      data: DataFrame): BaseRelation = createRelation(context, options)
}

object TellingV1Source {
  val schema: StructType = new StructType().add("option", "string").add("text", "string")
}

/** Gives all loads the same relation: the one of the first since [[Store.clear]]. */
class SharedV1Source extends RelationProvider {
  override def createRelation(context: SQLContext, options: Map[String, String]): BaseRelation =
    SharedV1Source.relation(context, options)
}

object SharedV1Source {
  private var first: V1Relation = _
  private def relation(context: SQLContext, options: Map[String, String]): BaseRelation = synchronized {
    Store.enter("V1 shared", options)
    if (Store.entries("V1 shared") == 1) first = new V1Relation(context, options)
    first
  }
}

/** A V2 source and sink, for batches and streams. */
class V2Source extends TableProvider with DataSourceRegister {
  protected def enter(options: util.Map[String, String]): Unit = ()

  override def shortName(): String = "storev2"
  override def supportsExternalMetadata(): Boolean = true
  override def inferSchema(options: CaseInsensitiveStringMap): StructType = {
    Store.enter("V2 inferSchema", options.asScala)
    Store.schema
  }
  override def getTable(
      schema: StructType,
      partitions: Array[Transform],
      options: util.Map[String, String]): Table = {
    enter(options)
    new V2Table("storev2")
  }
}

/** Connects already when Spark asks for the table. */
class EagerV2Source extends V2Source {
  override def shortName(): String = "eagerv2"
  override protected def enter(options: util.Map[String, String]): Unit = Store.enter("V2 getTable", options.asScala)
}

/** Takes confs of the session, `spark.datasource.keyedv2.*`, as options, and needs them to tell its schema. */
class KeyedV2Source extends V2Source with SessionConfigSupport {
  override def shortName(): String = "keyedv2"
  override def keyPrefix(): String = "keyedv2"
}

class V2Table(override val name: String) extends Table with SupportsRead with SupportsWrite {
  import TableCapability._
  override def schema(): StructType = Store.schema
  override def capabilities(): util.Set[TableCapability] = util.EnumSet.of(
    BATCH_READ,
    BATCH_WRITE,
    MICRO_BATCH_READ,
    STREAMING_WRITE,
    TRUNCATE,
    ACCEPT_ANY_SCHEMA)
  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder =
    new V2Scan(options.asCaseSensitiveMap.asScala.toMap)
  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder =
    new V2WriteBuilder(info.options.asCaseSensitiveMap.asScala.toMap)
}

class V2Scan(options: Map[String, String]) extends ScanBuilder with Scan with Batch {
  Store.enter("V2 scan", options)
  override def build(): Scan = this
  override def readSchema(): StructType = Store.schema
  override def toBatch: Batch = this
  override def planInputPartitions(): Array[InputPartition] = Array(V2Partition(0, Store.rows.size, options))
  override def createReaderFactory(): PartitionReaderFactory = V2Readers
  override def toMicroBatchStream(checkpoint: String): MicroBatchStream = new MicroBatchStream {
    Store.enter("V2 stream", options)
    override def initialOffset(): Offset = Counted(0)
    override def latestOffset(): Offset = Counted(Store.rows.size)
    override def deserializeOffset(json: String): Offset = Counted(json.toInt)
    override def planInputPartitions(from: Offset, to: Offset): Array[InputPartition] =
      Array(V2Partition(from.json().toInt, to.json().toInt, options))
    override def createReaderFactory(): PartitionReaderFactory = V2Readers
    override def commit(end: Offset): Unit = ()
    override def stop(): Unit = ()
  }
}

case class Counted(rows: Int) extends Offset { override def json(): String = rows.toString }
case class V2Partition(from: Int, to: Int, options: Map[String, String]) extends InputPartition

object V2Readers extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] = {
    val part = partition.asInstanceOf[V2Partition]
    Store.enter("V2 task", part.options)
    val ids = Store.ids().asScala.slice(part.from, part.to).iterator
    new PartitionReader[InternalRow] {
      private var id = 0L
      override def next(): Boolean = { val more = ids.hasNext; if (more) id = ids.next(); more }
      override def get(): InternalRow = InternalRow(id)
      override def close(): Unit = ()
    }
  }
}

class V2WriteBuilder(options: Map[String, String]) extends WriteBuilder with SupportsTruncate {
  Store.enter("V2 write", options)
  private var truncated = false
  override def truncate(): WriteBuilder = { truncated = true; this }
  override def build(): Write = new Write {
    override def toBatch: BatchWrite = new BatchWrite {
      override def createBatchWriterFactory(info: PhysicalWriteInfo): DataWriterFactory = new V2Writers
      override def commit(messages: Array[WriterCommitMessage]): Unit = {
        if (truncated) Store.rows.clear()
        V2Writers.commit(messages)
      }
      override def abort(messages: Array[WriterCommitMessage]): Unit = ()
    }
    override def toStreaming: StreamingWrite = new StreamingWrite {
      override def createStreamingWriterFactory(info: PhysicalWriteInfo): StreamingDataWriterFactory = new V2Writers
      override def commit(epoch: Long, messages: Array[WriterCommitMessage]): Unit = V2Writers.commit(messages)
      override def abort(epoch: Long, messages: Array[WriterCommitMessage]): Unit = ()
    }
  }
}

case class Written(ids: Seq[Long]) extends WriterCommitMessage

object V2Writers {
  def commit(messages: Array[WriterCommitMessage]): Unit =
    messages.foreach { case Written(ids) => ids.foreach(id => Store.rows.add(id)) }
}

class V2Writers extends DataWriterFactory with StreamingDataWriterFactory {
  override def createWriter(partition: Int, task: Long): DataWriter[InternalRow] = new DataWriter[InternalRow] {
    private val ids = scala.collection.mutable.ArrayBuffer[Long]()
    override def write(row: InternalRow): Unit = ids += row.getLong(0)
    override def commit(): WriterCommitMessage = Written(ids.toList)
    override def abort(): Unit = ()
    override def close(): Unit = ()
  }
  override def createWriter(partition: Int, task: Long, epoch: Long): DataWriter[InternalRow] =
    createWriter(partition, task)
}

/** A catalog that connects when it is loaded; its tables want the password in their options too. */
class StoreCatalog extends TableCatalog with SupportsNamespaces {
  private var named = ""
  // As a real one, it finds its tables again when it is loaded again.
  private def tables = StoreCatalog.tables.computeIfAbsent(named, _ => new ConcurrentHashMap[Identifier, Table]())
  override def initialize(name: String, options: CaseInsensitiveStringMap): Unit = {
    named = name
    Store.enter("catalog", options.asScala)
  }
  override def name(): String = named
  override def listTables(namespace: Array[String]): Array[Identifier] = tables.keySet.asScala.toArray
  override def loadTable(identifier: Identifier): Table =
    Option(tables.get(identifier)).getOrElse(throw Missing(identifier))
  override def createTable(
      identifier: Identifier,
      schema: StructType,
      parts: Array[Transform],
      properties: util.Map[String, String]): Table = {
    tables.put(identifier, new V2Table(s"$named.$identifier"))
    loadTable(identifier)
  }
  override def alterTable(identifier: Identifier, changes: TableChange*): Table = loadTable(identifier)
  override def dropTable(identifier: Identifier): Boolean = tables.remove(identifier) != null
  override def renameTable(from: Identifier, to: Identifier): Unit = ()
  override def listNamespaces(): Array[Array[String]] = Array(Array("ns"))
  override def listNamespaces(namespace: Array[String]): Array[Array[String]] = Array()
  override def loadNamespaceMetadata(namespace: Array[String]): util.Map[String, String] = new util.HashMap()
  override def createNamespace(namespace: Array[String], metadata: util.Map[String, String]): Unit = ()
  override def alterNamespace(namespace: Array[String], changes: NamespaceChange*): Unit = ()
  override def dropNamespace(namespace: Array[String], cascade: Boolean): Boolean = true
}

object StoreCatalog {
  private val tables = new ConcurrentHashMap[String, ConcurrentHashMap[Identifier, Table]]()
}

/**
 * A session catalog of the test's own that works through Spark's, as Iceberg's and Delta's do, and that connects when
 * it is loaded.
 */
class StoreSessionCatalog extends CatalogExtension {
  private var delegate: CatalogPlugin = _
  private def tables: TableCatalog = spark.asInstanceOf[TableCatalog]
  private def namespaces: SupportsNamespaces = spark.asInstanceOf[SupportsNamespaces]
  private def known: FunctionCatalog = spark.asInstanceOf[FunctionCatalog]
  private def spark: CatalogPlugin = {
    if (delegate == null) throw new IllegalStateException("Delegated SessionCatalog is missing")
    delegate
  }

  override def setDelegateCatalog(catalog: CatalogPlugin): Unit = delegate = catalog
  override def initialize(name: String, options: CaseInsensitiveStringMap): Unit =
    Store.enter("session catalog", options.asScala)
  override def name(): String = spark.name()
  override def defaultNamespace(): Array[String] = spark.defaultNamespace()
  override def listTables(namespace: Array[String]): Array[Identifier] = tables.listTables(namespace)
  override def loadTable(identifier: Identifier): Table = tables.loadTable(identifier)
  override def createTable(
      identifier: Identifier,
      columns: Array[org.apache.spark.sql.connector.catalog.Column],
      parts: Array[Transform],
      properties: util.Map[String, String]): Table = tables.createTable(identifier, columns, parts, properties)
  override def createTable(
      identifier: Identifier,
      schema: StructType,
      parts: Array[Transform],
      properties: util.Map[String, String]): Table = tables.createTable(identifier, schema, parts, properties)
  override def alterTable(identifier: Identifier, changes: TableChange*): Table =
    tables.alterTable(identifier, changes: _*)
  override def dropTable(identifier: Identifier): Boolean = tables.dropTable(identifier)
  override def renameTable(from: Identifier, to: Identifier): Unit = tables.renameTable(from, to)
  override def listNamespaces(): Array[Array[String]] = namespaces.listNamespaces()
  override def listNamespaces(namespace: Array[String]): Array[Array[String]] = namespaces.listNamespaces(namespace)
  override def loadNamespaceMetadata(namespace: Array[String]): util.Map[String, String] =
    namespaces.loadNamespaceMetadata(namespace)
  override def createNamespace(namespace: Array[String], metadata: util.Map[String, String]): Unit =
    namespaces.createNamespace(namespace, metadata)
  override def alterNamespace(namespace: Array[String], changes: NamespaceChange*): Unit =
    namespaces.alterNamespace(namespace, changes: _*)
  override def dropNamespace(namespace: Array[String], cascade: Boolean): Boolean =
    namespaces.dropNamespace(namespace, cascade)
  override def listFunctions(namespace: Array[String]): Array[Identifier] = known.listFunctions(namespace)
  override def loadFunction(identifier: Identifier): UnboundFunction = known.loadFunction(identifier)
}

object Missing {
  def apply(identifier: Identifier): Exception =
    new org.apache.spark.sql.catalyst.analysis.NoSuchTableException(identifier)
}
