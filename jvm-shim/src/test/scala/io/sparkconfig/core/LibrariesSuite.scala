package io.sparkconfig.core

import java.io.{File, StringReader}
import java.net.{Proxy, ProxySelector, URI}
import java.nio.file.Files
import javax.xml.XMLConstants.W3C_XML_SCHEMA_NS_URI
import javax.xml.transform.stream.StreamSource
import javax.xml.validation.{Schema, SchemaFactory}

import scala.collection.JavaConverters._

import munit.FunSuite
import org.w3c.dom.ls.LSResourceResolver
import org.xml.sax.{ErrorHandler, SAXNotRecognizedException, SAXParseException}

/** What a shared server tells Java's libraries before its first session. */
class LibrariesSuite extends FunSuite {

  private def withProperties(given: (String, String)*)(body: => Unit): Unit = {
    val names = given.map(_._1) ++ Seq("DTD", "Schema", "Stylesheet").map("javax.xml.accessExternal" + _)
    val before = names.map(name => name -> Option(System.getProperty(name)))
    val proxies = ProxySelector.getDefault
    given.foreach { case (name, value) => System.setProperty(name, value) }
    try body
    finally {
      before.foreach { case (name, value) => value.fold(System.clearProperty(name))(System.setProperty(name, _)) }
      ProxySelector.setDefault(proxies)
    }
  }

  private def proxy(uri: String): String = ProxySelector.getDefault.select(new URI(uri)).asScala.toSeq match {
    case Seq(Proxy.NO_PROXY) => "direct"
    case Seq(one) => s"${one.`type`} ${one.address}"
  }

  private val uris = Seq("socket://db.example.org:5432", "http://a.example.org", "https://a.example.org", "ftp://a/b")

  test("a property that is set after the start makes no connection take a proxy") {
    withProperties() {
      Proxies.fix()
      withProperties("socksProxyHost" -> "evil.example.org", "http.proxyHost" -> "evil", "https.proxyHost" -> "evil") {
        Proxies.fix()
        assert(proxy(uris.head).contains("evil"), "the test would tell nothing")
      }
      Proxies.fix()
      System.setProperty("socksProxyHost", "evil.example.org")
      try uris.foreach(uri => assertEquals(proxy(uri), "direct"))
      finally System.clearProperty("socksProxyHost")
    }
  }

  test("the operator's proxies serve as Java would use them") {
    withProperties("https.proxyHost" -> "p.example.org", "http.nonProxyHosts" -> "*.lake.example.org|other") {
      Proxies.fix()
      assert(proxy("https://a.example.org").matches("HTTP p.example.org.*:443"), proxy("https://a.example.org"))
      Seq("https://x.LAKE.example.org", "https://other", "http://a", "socket://db:1").foreach(uri =>
        assertEquals(proxy(uri), "direct"))
    }
    withProperties("socksProxyHost" -> "p.example.org") {
      Proxies.fix()
      uris.foreach(uri => assert(proxy(uri).startsWith("SOCKS p.example.org"), uri))
      Seq("socket://localhost:1", "http://127.0.0.1", "socket://[::1]:1").foreach(uri =>
        assertEquals(proxy(uri), "direct"))
    }
  }

  test("a schema's includes are not read") {
    val secret = Files.createTempFile("libraries", ".xsd")
    try {
      Files.writeString(secret, s"""<xs:schema xmlns:xs="$W3C_XML_SCHEMA_NS_URI"/>""")
      val text = s"""<xs:schema xmlns:xs="$W3C_XML_SCHEMA_NS_URI"><xs:include schemaLocation="${secret.toUri}"/>""" +
        "<xs:element name='a'/></xs:schema>"
      def read(): Schema = {
        val factory = SchemaFactory.newInstance(W3C_XML_SCHEMA_NS_URI)
        factory.newSchema(new StreamSource(new StringReader(text)))
      }
      read(): Unit
      withProperties() {
        XmlAccess.close()
        intercept[SAXParseException](read())
      }
    } finally Files.delete(secret)
  }

  test("a library's own reader of schemas stops the start, and is named") {
    withProperties(s"javax.xml.validation.SchemaFactory:$W3C_XML_SCHEMA_NS_URI" -> classOf[ForeignSchemas].getName) {
      val error = intercept[SparkConfigException](XmlAccess.close())
      assert(error.getMessage.contains(classOf[ForeignSchemas].getName), error.getMessage)
    }
  }
}

/** As Xerces: it knows nothing of what the JDK's may follow. */
class ForeignSchemas extends SchemaFactory {
  override def isSchemaLanguageSupported(language: String): Boolean = true
  override def setErrorHandler(handler: ErrorHandler): Unit = ()
  override def getErrorHandler: ErrorHandler = null
  override def setResourceResolver(resolver: LSResourceResolver): Unit = ()
  override def getResourceResolver: LSResourceResolver = null
  override def newSchema(): Schema = null
  override def newSchema(schema: File): Schema = null
  override def newSchema(sources: Array[javax.xml.transform.Source]): Schema = null
  override def setProperty(name: String, value: Any): Unit = throw new SAXNotRecognizedException(name)
}
