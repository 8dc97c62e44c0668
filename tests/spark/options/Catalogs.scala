package sparkconfigtest

import java.util
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.JavaConverters._

import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** A catalog as Iceberg's: it connects with the password that it was loaded with, and so do its tables. */
class KeptCatalog extends StoreCatalog {
  private var options: CaseInsensitiveStringMap = _
  override def initialize(name: String, given: CaseInsensitiveStringMap): Unit = {
    super.initialize(name, given)
    options = given
    KeptCatalog.loads.incrementAndGet()
  }
  override def listTables(namespace: Array[String]): Array[Identifier] = {
    Store.enter("catalog list", options.asScala)
    Array()
  }
  override def createTable(
      identifier: Identifier,
      schema: StructType,
      parts: Array[Transform],
      properties: util.Map[String, String]): Table = {
    KeptCatalog.tables.add(s"${name()}.$identifier")
    loadTable(identifier)
  }
  override def loadTable(identifier: Identifier): Table = {
    Store.enter("catalog table", options.asScala)
    val full = s"${name()}.$identifier"
    if (!KeptCatalog.tables.contains(full)) throw Missing(identifier)
    new V2Table(full) {
      override def newScanBuilder(own: CaseInsensitiveStringMap): ScanBuilder =
        new V2Scan(own.asCaseSensitiveMap.asScala.toMap ++ options.asCaseSensitiveMap.asScala)
    }
  }
  override def dropTable(identifier: Identifier): Boolean = KeptCatalog.tables.remove(s"${name()}.$identifier")
}

object KeptCatalog {
  val loads = new AtomicInteger()
  val tables: util.Set[String] = ConcurrentHashMap.newKeySet[String]()
  def loaded(): Int = loads.get
}
