package io.sparkconfig.core

/**
 * What Java's readers of XML and of its schemas may follow. A user's XML, or a schema in the lake, can name files and
 * URLs as external DTDs, entities and schemas; what is read there comes back in an error.
 */
private[sparkconfig] object XmlAccess {
  private val Properties = Seq("DTD", "Schema", "Stylesheet").map("javax.xml.accessExternal" + _)

  /** From here on, nothing outside of the document and the schema that were given. */
  def close(): Unit = Properties.foreach(System.setProperty(_, ""))
}
