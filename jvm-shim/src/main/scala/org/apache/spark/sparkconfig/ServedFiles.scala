package org.apache.spark.sparkconfig

import java.io.File
import java.nio.file.Files
import java.nio.file.attribute.PosixFilePermission.{OWNER_EXECUTE, OWNER_READ, OWNER_WRITE}
import java.util.concurrent.ConcurrentHashMap

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.spark.SparkContext
import org.apache.spark.sparkconfig.access.Reflect

/**
 * What `addFile`, `addArchive`, `addPyFile` and `ADD FILE` hand to the driver's file server, which serves it to whoever
 * asks: a file for its owner alone, a keystore or a private key is refused before it is served. What confs name is
 * looked at by `sparkconfig.settings.shipped`, in folders and archives, too.
 */
object ServedFiles {
  private val Keystore = "(?i)(?!(?!.*key).*(?:trust|cacerts)).*" +
    "\\.(?:jks|jceks|bcfks|bks|p12|pfx|pkcs12|pk8|ppk|key|keystore|keytab|kdbx)"
  // As in shipped.py: PEM, PuTTY, DER of PKCS #8, #1 and #12, Kerberos, KeePass; keystores of Java's with a key first.
  private val Key = ("(?s).*PRIVATE KEY-----.*|PuTTY-User-Key-File.*" +
    "|\\x30(?:[\\x01-\\x7f]|\\x81.|\\x82..)\\x02\\x01" +
    "(?:\\x00[\\x30\\x02]|\\x01\\x04|\\x03\\x30).*|\\x05\\x02\\x00\\x00.*|\\x03\\xd9\\xa2\\x9a.*" +
    "|(?:\\xfe\\xed\\xfe\\xed|\\xce\\xce\\xce\\xce).{8}\\x00\\x00\\x00[\\x01\\x03].*").r
  private val Code = Set("jar", "py", "zip", "egg", "whl")
  private val Owner = Set(OWNER_READ, OWNER_WRITE, OWNER_EXECUTE)
  private val Head = 4096

  /** @throws IllegalStateException if this Spark's file server is another one */
  def guard(sc: SparkContext): Unit = {
    val server = sc.env.rpcEnv.fileServer
    Seq("files", "jars").foreach { name =>
      val field = Reflect.field(server.getClass, name)
      field.set(server, new Guarded(field.get(server).asInstanceOf[ConcurrentHashMap[String, File]]))
    }
  }

  private final class Guarded(served: ConcurrentHashMap[String, File]) extends ConcurrentHashMap[String, File](served) {
    override def putIfAbsent(name: String, file: File): File = {
      problem(file).foreach { why =>
        throw new SecurityException(
          s"${file.getName} is $why, and the driver serves what is added to all who reach its port: put the file on " +
            "each host, or keep its content in a store; spark.config.rpc.insecure=true accepts it")
      }
      super.putIfAbsent(name, file)
    }
  }

  private def problem(file: File): Option[String] =
    if (file.getName.matches(Keystore)) Some("a keystore")
    else if (!Code(file.getName.split('.').last.toLowerCase) && ofOwner(file)) Some("for its owner alone (mode 0600)")
    else if (Key.pattern.matcher(head(file)).matches) Some("a private key")
    else None

  private def ofOwner(file: File): Boolean =
    Try(Files.getPosixFilePermissions(file.toPath).asScala.forall(Owner)).getOrElse(false)

  private def head(file: File): String =
    Try {
      val stream = Files.newInputStream(file.toPath)
      val begun = new Array[Byte](Head)
      try new String(begun, 0, math.max(stream.read(begun), 0), "ISO-8859-1")
      finally stream.close()
    }.getOrElse("")
}
