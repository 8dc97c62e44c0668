package io.sparkconfig.redaction.sinks

import java.lang.reflect.{Array => JArray, Field}
import java.util.{HashMap => JHashMap, Map => JMap, Properties}

import scala.collection.{immutable, mutable}

import io.sparkconfig.redaction.engine.{Reader, Redactor, Throwables}
import org.apache.spark.scheduler.SparkListenerEvent
import org.apache.spark.sparkconfig.access.Reflect

/** Stands in for an event that could not be searched. */
final class UnsearchedEvent extends SparkListenerEvent

/**
 * Masks values in the events that listeners get. An event in which none occurs is passed on as it is; else the
 * listener gets a copy of the same class, with the same objects in it except for those that held a value.
 *
 * @param reader of these events
 */
private[sparkconfig] final class Events(reader: Reader) {
  import Events._

  def redact(event: SparkListenerEvent): SparkListenerEvent =
    if (Redactor.isEmpty) event
    else
      try copyOf(event).asInstanceOf[SparkListenerEvent]
      catch { case fault: Throwable => Redactor.failed(fault); new UnsearchedEvent }

  /** The same instance if no value is in it. */
  private def copyOf(given: AnyRef): AnyRef = given match {
    case null => null
    case text: String => Redactor.redact(text, reader)
    case thrown: Throwable => Throwables.redact(thrown, reader)
    case Some(inner: AnyRef) =>
      val safe = copyOf(inner)
      if (safe eq inner) given else Some(safe)
    case properties: Properties => copyOfProperties(properties)
    case map: JMap[_, _] => copyOfEntries(map.asInstanceOf[JMap[AnyRef, AnyRef]])
    case map: mutable.Map[_, _] => entries(map).fold[AnyRef](map)(safe => mutable.HashMap(safe: _*))
    case map: immutable.Map[_, _] => entries(map).fold[AnyRef](map)(_.toMap)
    case list: List[_] => elements(list).fold[AnyRef](list)(_.toList)
    case sequence: immutable.Seq[_] => elements(sequence).fold[AnyRef](sequence)(_.toVector)
    case sequence: scala.collection.Seq[_] =>
      elements(sequence).fold[AnyRef](sequence)(safe => new mutable.ArrayBuffer[AnyRef](safe.length) ++= safe)
    case set: immutable.Set[_] => elements(set).fold[AnyRef](set)(_.toSet)
    case array: Array[AnyRef] =>
      elements(array.toSeq).fold[AnyRef](array) { safe =>
        val copy = JArray.newInstance(array.getClass.getComponentType, array.length).asInstanceOf[Array[AnyRef]]
        safe.copyToArray(copy)
        copy
      }
    case other if carries(other.getClass) => copyOfFields(other)
    case other => other
  }

  private def copyOfEntries(map: JMap[AnyRef, AnyRef]): JMap[AnyRef, AnyRef] = {
    val safe = new JHashMap[AnyRef, AnyRef]()
    var dirty = false
    map.forEach { (key, value) =>
      val safeKey = copyOf(key)
      val safeValue = copyOf(value)
      dirty ||= (safeKey ne key) || (safeValue ne value)
      safe.put(safeKey, safeValue)
    }
    if (dirty) safe else map
  }

  private def copyOfProperties(properties: Properties): Properties = {
    val safe = new Properties()
    var dirty = false
    properties.stringPropertyNames.forEach { key =>
      val text = properties.getProperty(key)
      val safeKey = Redactor.redact(key, reader)
      val safeText = Redactor.redact(text, reader)
      dirty ||= (safeKey ne key) || (safeText ne text)
      safe.setProperty(safeKey, safeText)
    }
    if (dirty) safe else properties
  }

  private def entries(map: scala.collection.Map[_, _]): Option[Seq[(AnyRef, AnyRef)]] = {
    val old = map.toSeq.asInstanceOf[Seq[(AnyRef, AnyRef)]]
    val safe = old.map { case (key, value) => (copyOf(key), copyOf(value)) }
    if (old.zip(safe).forall { case (a, b) => (a._1 eq b._1) && (a._2 eq b._2) }) None else Some(safe)
  }

  private def elements(all: Iterable[_]): Option[Seq[AnyRef]] = {
    val old = all.toVector.asInstanceOf[Vector[AnyRef]]
    val safe = old.map(copyOf(_))
    if (old.zip(safe).forall { case (a, b) => a eq b }) None else Some(safe)
  }

  private def copyOfFields(given: AnyRef): AnyRef = {
    val shape = Shapes.get(given.getClass)
    var copy: AnyRef = null
    shape.texts.foreach { field =>
      val old = field.get(given)
      val safe = copyOf(old)
      if (safe ne old) {
        if (copy == null) copy = shape.copy(given)
        field.set(copy, safe)
      }
    }
    if (copy == null) given else copy
  }
}

private object Events {
  // What is not a case class and carries text, by simple name: their packages differ between Spark versions.
  private val Carriers = Set(
    "StageInfo",
    "RDDInfo",
    "RDDOperationScope",
    "TaskInfo",
    "SparkPlanInfo",
    "SQLPlanMetric",
    "ExecutorInfo",
    "ThrowableSerializationWrapper",
    "StreamingQueryProgress",
    "StateOperatorProgress",
    "SourceProgress",
    "SinkProgress")
  // Live objects of Spark that events point to; they are not for copying.
  private val Live = Set(
    "org.apache.spark.sql.execution.QueryExecution",
    "org.apache.spark.executor.TaskMetrics",
    "org.apache.spark.sql.catalyst.trees.TreeNode",
    "org.apache.spark.resource.ResourceProfile")

  private def carries(kind: Class[_]): Boolean = Shapes.get(kind).carries

  /** @param texts the fields that can hold text, if objects of the class are entered at all */
  private final class Shape(kind: Class[_], val carries: Boolean, all: Array[Field], val texts: Array[Field]) {

    /** No constructor is called: they differ between Spark versions, and some have effects. */
    def copy(given: AnyRef): AnyRef = {
      val fresh = Reflect.unsafe.allocateInstance(kind)
      all.foreach(field => field.set(fresh, field.get(given)))
      fresh.asInstanceOf[AnyRef]
    }
  }

  private object Shapes extends ClassValue[Shape] {
    override def computeValue(kind: Class[_]): Shape = {
      val line = Iterator.iterate[Class[_]](kind)(_.getSuperclass).takeWhile(_ != null).toList
      val enters =
        (classOf[SparkListenerEvent].isAssignableFrom(kind) || Carriers(kind.getSimpleName) && isSpark(kind) ||
          classOf[Product].isAssignableFrom(kind) && (isSpark(kind) || kind.getName.startsWith("scala.Tuple"))) &&
          !line.exists(each => Live(each.getName))
      val all =
        if (!enters) Array.empty[Field]
        else Reflect.instanceFields(kind).toArray
      new Shape(kind, enters, all, all.filterNot(field => isPlain(field.getType)))
    }

    private def isSpark(kind: Class[_]): Boolean = kind.getName.startsWith("org.apache.spark.")

    private def isPlain(kind: Class[_]): Boolean =
      kind.isPrimitive || classOf[Number].isAssignableFrom(kind) || kind.isEnum || Live(kind.getName)
  }
}
