package io.sparkconfig.bindings.sources

import java.lang.reflect.InvocationTargetException
import java.net.URI

import io.sparkconfig.core.{Expression, NamedConnections}
import org.apache.spark.sql.catalyst.catalog.{BucketSpec, CatalogTable}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.catalog.SessionConfigSupport
import org.apache.spark.sql.execution.datasources.v2.FileDataSourceV2
import org.apache.spark.sql.execution.datasources.{DataSource, FileFormat, HadoopFsRelation}
import org.apache.spark.sql.execution.streaming.Sink
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sources.BaseRelation
import org.apache.spark.sql.sparkconfig.Sessions
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.types.StructType

/** Data sources by the name of their provider, and copies of Spark's case classes that grow between versions. */
private[sparkconfig] object Sources {
  def isFile(provider: String, conf: SQLConf): Boolean = {
    val found = DataSource.lookupDataSource(provider, conf)
    classOf[FileFormat].isAssignableFrom(found) || classOf[FileDataSourceV2].isAssignableFrom(found)
  }

  /** Whether this is Spark's own relation of files: a copy of one that another project extends is less than it was. */
  def isOfFiles(relation: BaseRelation): Boolean = relation.getClass == classOf[HadoopFsRelation]

  /** A new instance of the V1 provider. */
  def provider(name: String, conf: SQLConf): AnyRef =
    DataSource.lookupDataSource(name, conf).getConstructor().newInstance().asInstanceOf[AnyRef]

  def isV2(provider: String, conf: SQLConf): Boolean = DataSource.lookupDataSourceV2(provider, conf).isDefined

  /** The options that a source of this provider needs now; a JDBC connection finds the rest by itself. */
  def options(
      provider: String,
      texts: Map[String, String],
      conf: SQLConf,
      access: String = Connections.Read): Map[String, String] =
    if (!Options.hold(texts)) texts
    else if (JdbcOptions.isJdbc(provider, conf)) JdbcOptions.forSpark(provider, texts, access)
    else Options.values(provider, texts, access)

  /**
   * The options, and those that Spark would add from the session's confs while it loads the source
   * (`spark.datasource.PREFIX.*`), as far as these hold references, or stand beside a connection.
   */
  def withSessionConfs(provider: String, options: Map[String, String], conf: SQLConf): Map[String, String] = {
    val all = NamedConnections.isNamed(options)
    val held = conf.getAllConfs.filter { case (key, text) =>
      key.startsWith(SessionConfs) && (all || Expression.mayHold(text))
    }
    if (held.isEmpty) options
    else DataSource.lookupDataSourceV2(provider, conf) match {
      case Some(source: SessionConfigSupport) =>
        val prefix = s"$SessionConfs${source.keyPrefix}."
        val added = held.collect { case (key, text) if key.startsWith(prefix) => key.substring(prefix.length) -> text }
          .filterNot { case (name, _) => options.keysIterator.exists(_.equalsIgnoreCase(name)) }
        if (added.isEmpty) options else options ++ added
      case _ => options
    }
  }

  private val SessionConfs = "spark.datasource."

  def dataSource(
      session: Sessions.Spark,
      provider: String,
      options: Map[String, String],
      schema: Option[StructType] = None,
      partitionColumns: Seq[String] = Nil,
      bucketSpec: Option[BucketSpec] = None,
      table: Option[CatalogTable] = None): DataSource = {
    val first = Seq[AnyRef](
      Sessions.classic(session),
      provider,
      Nil,
      schema,
      partitionColumns,
      bucketSpec,
      options,
      table)
    // 4.3 has one more argument than 3.5 to 4.2: what is unknown here gets its default.
    val companion = Class.forName(classOf[DataSource].getName + "$")
    val constructor = widest(classOf[DataSource])
    val rest = (first.length + 1 to constructor.getParameterCount).map { position =>
      companion.getMethod("apply$default$" + position).invoke(companion.getField("MODULE$").get(null))
    }
    unwrapped(constructor.newInstance(first ++ rest: _*)).asInstanceOf[DataSource]
  }

  /** Without looking for missing files, as catalog tables do. 4.3 has more arguments than 3.5. */
  def relation(source: DataSource): BaseRelation = {
    val method = classOf[DataSource].getMethods.filter(_.getName == "resolveRelation").maxBy(_.getParameterCount)
    val defaults = (2 to method.getParameterCount).map { position =>
      classOf[DataSource].getMethod("resolveRelation$default$" + position).invoke(source)
    }
    unwrapped(method.invoke(source, java.lang.Boolean.FALSE +: defaults: _*)).asInstanceOf[BaseRelation]
  }

  /** 4.3 also wants the schema of what will be written. */
  def sink(source: DataSource, mode: OutputMode, schema: StructType): Sink = {
    val method = classOf[DataSource].getMethods.find(_.getName == "createSink").get
    val arguments = Seq[AnyRef](mode, schema).take(method.getParameterCount)
    unwrapped(method.invoke(source, arguments: _*)).asInstanceOf[Sink]
  }

  def withOptions(source: DataSource, options: Map[String, String]): DataSource = copy(source, 6 -> options)

  def withSchema(table: CatalogTable, schema: StructType, partitionColumns: Seq[String]): CatalogTable =
    copy(table, 3 -> schema, 5 -> partitionColumns)

  def withLocation(table: CatalogTable, location: Option[URI]): CatalogTable =
    copy(table, 2 -> copy(table.storage, 0 -> location))

  /** A node with some of its constructor's arguments replaced, whatever their number in this version. */
  def edit(node: LogicalPlan)(change: PartialFunction[Any, Any]): LogicalPlan = {
    val before = node.productIterator.map(_.asInstanceOf[AnyRef]).toArray
    val after = before.map(argument => change.applyOrElse(argument, identity[Any]).asInstanceOf[AnyRef])
    if (before.indices.forall(i => before(i) eq after(i))) node else node.makeCopy(after)
  }

  /** The leading arguments of these classes are the same in all versions. */
  private def copy[T <: Product](original: T, changes: (Int, AnyRef)*): T = {
    val arguments = original.productIterator.map(_.asInstanceOf[AnyRef]).toArray
    changes.foreach { case (position, value) => arguments(position) = value }
    unwrapped(widest(original.getClass).newInstance(arguments: _*)).asInstanceOf[T]
  }

  private def widest(owner: Class[_]) = owner.getConstructors.maxBy(_.getParameterCount)

  private def unwrapped[T](call: => T): T =
    try call
    catch { case e: InvocationTargetException => throw e.getCause }
}
