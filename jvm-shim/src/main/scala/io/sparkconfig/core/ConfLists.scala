package io.sparkconfig.core

import org.apache.spark.SparkConf

/** Confs that hold a list, separated by commas, to which several may add. */
private[sparkconfig] object ConfLists {

  /** Appends an element; what others named there stays, and comes first. */
  def add(conf: SparkConf, key: String, element: String): Unit = {
    val present = conf.get(key, "").split(',').map(_.trim).filter(_.nonEmpty)
    if (!present.contains(element)) conf.set(key, (present :+ element).mkString(","))
  }
}
