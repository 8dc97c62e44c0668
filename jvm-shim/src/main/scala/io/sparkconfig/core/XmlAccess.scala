package io.sparkconfig.core

import javax.xml.XMLConstants.{ACCESS_EXTERNAL_DTD, ACCESS_EXTERNAL_SCHEMA, W3C_XML_SCHEMA_NS_URI}
import javax.xml.parsers.DocumentBuilderFactory
import javax.xml.validation.SchemaFactory

import scala.util.Try

/**
 * What Java's readers of XML and of its schemas may follow. A user's XML, or a schema in the lake, can name files and
 * URLs as external DTDs, entities and schemas; what is read there comes back in an error.
 */
private[sparkconfig] object XmlAccess {
  private val Properties = Seq("DTD", "Schema", "Stylesheet").map("javax.xml.accessExternal" + _)

  /**
   * From here on, nothing outside of the document and the schema that were given.
   *
   * @throws SparkConfigException the class path has a reader of its own, which these properties do not reach
   */
  def close(): Unit = {
    Properties.foreach(System.setProperty(_, ""))
    val schemas = SchemaFactory.newInstance(W3C_XML_SCHEMA_NS_URI)
    val documents = DocumentBuilderFactory.newInstance()
    require(schemas, () => Seq(ACCESS_EXTERNAL_DTD, ACCESS_EXTERNAL_SCHEMA).foreach(schemas.setProperty(_, "")))
    require(documents, () => documents.setAttribute(ACCESS_EXTERNAL_DTD, ""))
  }

  /** A reader that knows the properties by their names reads those of the JVM, too. */
  private def require(reader: AnyRef, knows: () => Unit): Unit =
    if (Try(knows()).isFailure)
      throw new SparkConfigException(
        s"XML would be read by ${reader.getClass.getName}, which may follow files and URLs that a document names. " +
          "A shared server needs the JDK's own: take the library with this class off the class path.")
}
