package io.sparkconfig.core

import org.apache.avro.generic.GenericData
import org.apache.avro.specific.SpecificData

/**
 * Avro's fast reader makes an object of whatever class a schema names for a text, with the text as its argument: a
 * file's header, or a schema that a statement writes, would have any class open any file. Its other reader does not.
 */
private[core] object AvroReaders {

  /** In this JVM, from here on. Where Avro cannot be loaded, nothing can use it either. */
  def plain(): Unit = {
    System.setProperty("org.apache.avro.fastread", "false")
    try Seq(GenericData.get, SpecificData.get).foreach(_.setFastReaderEnabled(false))
    catch { case _: LinkageError => () }
  }
}
