package io.sparkconfig.core

import java.io.IOException
import java.net.Proxy.Type
import java.net.{InetSocketAddress, Proxy, ProxySelector, SocketAddress, URI}
import java.util.regex.Pattern
import java.util.{Collections, List => JList}

/**
 * The proxies that Java's connections take. Java reads its properties at each connection: who changed one later would
 * send other users' passwords through a machine of his own.
 */
private[sparkconfig] object Proxies {
  private val Local = "localhost|127.*|[::1]|0.0.0.0|[::0]"

  /** From here on, those that the properties name now. */
  def fix(): Unit = {
    val socks = named("socksProxy", Type.SOCKS, "1080", "socksNonProxyHosts")
    val web = Seq("http" -> "80", "https" -> "443", "ftp" -> "80").map { case (scheme, port) =>
      val direct = if (scheme == "ftp") "ftp.nonProxyHosts" else "http.nonProxyHosts"
      scheme -> named(s"$scheme.proxy", Type.HTTP, port, direct).orElse(socks)
    }
    ProxySelector.setDefault(new Fixed(web.toMap + ("socket" -> socks)))
  }

  private def named(prefix: String, kind: Type, port: String, direct: String): Option[Named] =
    sys.props.get(s"${prefix}Host").filter(_.nonEmpty).map { host =>
      val address = InetSocketAddress.createUnresolved(host, sys.props.getOrElse(s"${prefix}Port", port).toInt)
      val hosts = sys.props.getOrElse(direct, Local).split('|').map(_.trim).filter(_.nonEmpty)
        .map(_.split("\\*", -1).map(Pattern.quote).mkString(".*"))
      new Named(new Proxy(kind, address), Pattern.compile(hosts.mkString("|"), Pattern.CASE_INSENSITIVE))
    }

  private final class Named(val proxy: Proxy, direct: Pattern) {
    def serves(host: String): Boolean = !direct.matcher(host).matches
  }

  private final class Fixed(byScheme: Map[String, Option[Named]]) extends ProxySelector {
    override def select(uri: URI): JList[Proxy] = {
      val host = Option(uri.getHost).getOrElse("")
      val found = byScheme.get(uri.getScheme.toLowerCase(java.util.Locale.ROOT)).flatten.filter(_.serves(host))
      Collections.singletonList(found.map(_.proxy).getOrElse(Proxy.NO_PROXY))
    }

    override def connectFailed(uri: URI, address: SocketAddress, error: IOException): Unit = ()
  }
}
