package io.sparkconfig.policy.doors

import java.nio.ByteBuffer
import java.util.{Collections, WeakHashMap}

import org.apache.hadoop.conf.Configuration
import org.apache.hive.service.cli.thrift.ThriftBinaryCLIService
import org.apache.spark.sparkconfig.access.Reflect
import org.apache.thrift.protocol.TBinaryProtocol
import org.apache.thrift.server.TServer
import org.apache.thrift.transport.{TSocket, TTransport, TTransportException, TTransportFactory}

/**
 * The lengths that clients of a Thrift server say, before it takes memory for them: it would take a hundred megabytes
 * for five bytes of somebody who has not logged in, and wait for the rest for ever. So a login is short and ends in
 * time; after it, a message may be as long as a long statement, and takes memory as it comes.
 */
private[sparkconfig] object LoginTransport {

  /** A ticket of Kerberos has up to 64 kB. */
  private val MostOfLogin = 128 << 10
  private val Most = 32 << 20

  /** Of a list in a message. */
  private val MostEntries = 1000000L

  /** What a message may take before so much of it has come. */
  private val Unread = 64 << 10

  /** In milliseconds; what Hive allows a client for it. */
  private val LoginTime = 20000

  /**
   * Whether the service limits its clients now; false: it has no server yet. Those without SASL say no lengths.
   *
   * @throws IllegalStateException if it answers over HTTP and keeps logins in cookies
   */
  def limit(service: AnyRef): Boolean = service match {
    case binary: ThriftBinaryCLIService =>
      val server = Reflect.get(binary, "server").asInstanceOf[TServer]
      if (server != null) {
        Seq("inputTransportFactory_", "outputTransportFactory_")
          .map(Reflect.field(classOf[TServer], _))
          .filter(_.get(server).getClass != classOf[TTransportFactory])
          .groupBy(_.get(server))
          .foreach { case (factory: TTransportFactory, fields) =>
            val limited = new Limited(factory)
            fields.foreach(_.set(server, limited))
          }
        val protocols = new TBinaryProtocol.Factory(false, true, Most.toLong, MostEntries)
        Reflect.field(classOf[TServer], "inputProtocolFactory_").set(server, protocols)
      }
      server != null
    case http =>
      val conf = Reflect.get(http, "hiveConf").asInstanceOf[Configuration]
      if (conf != null && conf.getBoolean(Cookies, true)) throw new IllegalStateException(
        s"users could take each other's names by Hive's cookies; set spark.hadoop.$Cookies=false")
      conf != null
  }

  /** Hive writes a user's name into them as it is: who logs in as `a&cu=b` is b from then on. */
  private val Cookies = "hive.server2.thrift.http.cookie.auth.enabled"

  /** Of one connection, reading and writing ask for the same transport. */
  private final class Limited(factory: TTransportFactory) extends TTransportFactory {
    private val sockets = Collections.synchronizedMap(new WeakHashMap[TTransport, LimitedSocket])

    override def getTransport(base: TTransport): TTransport = base match {
      case plain: TSocket =>
        val socket = sockets.computeIfAbsent(base, _ => new LimitedSocket(plain))
        val made = factory.getTransport(socket)
        socket.loggedIn()
        made
      case other => throw new TTransportException(s"a connection of the class ${other.getClass.getName}")
    }
  }

  /** SASL reads a length, and then what it says, again and again. */
  private final class LimitedSocket(plain: TSocket) extends TSocket(plain.getSocket) {
    private val began = System.nanoTime
    private var most = MostOfLogin
    private var isLength = true
    private var message = Array.emptyByteArray
    setTimeout(LoginTime)

    def loggedIn(): Unit = if (most == MostOfLogin) {
      most = Most
      setTimeout(0)
    }

    override def read(buffer: Array[Byte], offset: Int, length: Int): Int = {
      if (most == MostOfLogin && System.nanoTime - began > LoginTime * 1000000L)
        throw new TTransportException("the login takes too long")
      super.read(buffer, offset, length)
    }

    override def readAll(buffer: Array[Byte], offset: Int, length: Int): Int = {
      if (message.length == length) System.arraycopy(message, 0, buffer, offset, length)
      else super.readAll(buffer, offset, length)
      message = Array.emptyByteArray
      if (isLength) {
        val size = ByteBuffer.wrap(buffer).getInt(offset + length - Integer.BYTES)
        if (size < 0 || size > most) throw new TTransportException(s"a message of $size bytes; $most are allowed")
        if (size > Unread) message = whole(size)
      }
      isLength = !isLength
      length
    }

    /** A long message, in memory that grows as it comes. */
    private def whole(size: Int): Array[Byte] = {
      var read = new Array[Byte](Unread)
      super.readAll(read, 0, Unread)
      while (read.length < size) {
        val before = read.length
        read = java.util.Arrays.copyOf(read, math.min(size, 2 * before))
        super.readAll(read, before, read.length - before)
      }
      read
    }
  }
}
