package org.apache.spark.sparkconfig

import java.util.Properties

import org.apache.spark.SparkContext
import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.util.Utils

/**
 * The local properties of a context, with more that are computed when they are read. Spark reads them
 * when it submits a job, and hands them to each of its tasks.
 */
private final class TaskProperties(before: Properties, added: Map[String, String => String])
  extends InheritableThreadLocal[Properties] {

  set(before)

  override def get(): Properties = {
    val properties = super.get()
    if (properties != null) added.foreach { case (key, value) =>
      val before = properties.getProperty(key)
      val newest = value(before)
      if (before != newest) properties.setProperty(key, newest)
    }
    properties
  }

  // As in SparkContext: what a thread inherits is a copy.
  override def childValue(parent: Properties): Properties = Utils.cloneProperties(parent)

  override protected def initialValue(): Properties = new Properties()
}

object TaskProperties {

  /** From now on each job that is submitted has these properties, each computed of what it was before, or null. */
  def install(sc: SparkContext, added: Map[String, String => String]): Unit = if (added.nonEmpty)
    Reflect.field(classOf[SparkContext], "localProperties")
      .set(sc, new TaskProperties(sc.localProperties.get(), added))
}
