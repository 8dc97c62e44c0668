package io.sparkconfig.core

import org.apache.avro.generic.GenericData
import org.apache.avro.specific.SpecificData

/**
 * For a string, an Avro schema may name a Java class, and Avro's fast reader calls that class's constructor with the
 * string. A file's header, or a schema in a statement, could open any file that way. The ordinary reader does not.
 */
private[core] object AvroReaders {

  /** In this JVM, from here on. Where Avro cannot be loaded, nothing can use it either. */
  def plain(): Unit = {
    System.setProperty("org.apache.avro.fastread", "false")
    try Seq(GenericData.get, SpecificData.get).foreach(_.setFastReaderEnabled(false))
    catch { case _: LinkageError => () }
  }
}
