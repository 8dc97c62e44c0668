package org.apache.spark.sql.sparkconfig

import java.lang.reflect.{Field, InvocationTargetException}

import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.sql.Dataset
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.streaming.DataStreamReader

/**
 * `load()` of 3.5 makes the relation at once, with the reader's options: no rule comes between. This calls it with
 * values; the plan that comes back holds the references again.
 */
object EagerLoad {

  /** What a reader loads with. */
  trait Load {

    /** Whether anything held a reference. */
    def changed: Boolean
    def options: Map[String, String]

    /** Of the reader's method: paths, with values. */
    def arguments: Array[AnyRef]

    /** The plan with the references instead of their values. */
    def asWritten(plan: LogicalPlan): LogicalPlan
  }

  /** A format, the options as they are written, the method's arguments, and whether it is a stream's reader. */
  type Prepare = (String, Map[String, String], Array[AnyRef], Boolean) => Load

  /**
   * @param reader a DataFrameReader or DataStreamReader
   * @param method what to call on it, such as `load`
   */
  def call(reader: AnyRef, method: String, arguments: Array[AnyRef], prepare: Prepare): AnyRef = {
    val options = field(reader, "extraOptions")
    val written = options.get(reader).asInstanceOf[CaseInsensitiveMap[String]]
    val format = if (method == "load") String.valueOf(field(reader, "source").get(reader)) else method
    val load = prepare(format, written.originalMap, arguments, reader.isInstanceOf[DataStreamReader])
    if (!load.changed) invoke(reader, method, arguments)
    else {
      options.set(reader, CaseInsensitiveMap(load.options))
      try invoke(reader, method, load.arguments) match {
          case frame: Dataset[_] =>
            val analyzed = frame.queryExecution.analyzed
            val shown = load.asWritten(analyzed)
            if (shown eq analyzed) frame else Dataset.ofRows(frame.sparkSession, shown)
          case other => other
        }
      finally options.set(reader, written)
    }
  }

  private def invoke(reader: AnyRef, method: String, arguments: Array[AnyRef]): AnyRef = {
    val found = reader.getClass.getMethods.find { candidate =>
      candidate.getName == method && candidate.getParameterCount == arguments.length &&
      candidate.getParameterTypes.zip(arguments).forall { case (kind, argument) => kind.isInstance(argument) }
    }.getOrElse(throw new IllegalArgumentException(s"${reader.getClass.getName} has no such method $method"))
    try found.invoke(reader, arguments: _*)
    catch { case e: InvocationTargetException => throw e.getCause }
  }

  private def field(reader: AnyRef, name: String): Field = Reflect.field(reader.getClass, name)
}
