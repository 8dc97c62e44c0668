package io.sparkconfig.executor.workers

import java.io.{DataInputStream, DataOutputStream}
import java.net.{StandardProtocolFamily, UnixDomainSocketAddress}
import java.nio.ByteBuffer
import java.nio.channels.{Channels, SocketChannel}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.attribute.PosixFilePermissions
import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.JsonNode
import io.sparkconfig.core.{Expression, Json, Snapshot, Used, ValueSource}
import munit.FunSuite

class WorkerServerSuite extends FunSuite {

  private object Empty extends ValueSource {
    override def snapshot: Snapshot = Snapshot.Empty
    override def refresh(): Boolean = false
    override def resolve(expression: Expression): String = throw Used.noValue(expression)
    override def use(expressions: Seq[Expression]): Used = throw Used.noValue(expressions.head)
    override def renew(refused: Used): Used = refused
    override def useForWorker(expressions: Seq[Expression]): Used = use(expressions)
  }

  /** What a worker knows: where the folder is, and the token. */
  private final class Worker(told: JsonNode) {
    private val folder = Paths.get(told.get("folder").asText)
    private val channel = SocketChannel.open(StandardProtocolFamily.UNIX)
    private val mapped = Files.readAllBytes(folder.resolve("version"))
    channel.connect(UnixDomainSocketAddress.of(folder.resolve("s")))
    private val in = new DataInputStream(Channels.newInputStream(channel))
    private val out = new DataOutputStream(Channels.newOutputStream(channel))
    ask("token", told.get("token").asText)

    def generation: Long = ByteBuffer.wrap(mapped).getLong

    def ask(key: String, text: String): JsonNode = {
      val bytes = Json.bytes(Json.obj().put(key, text))
      out.writeInt(bytes.length)
      out.write(bytes)
      val answer = new Array[Byte](in.readInt())
      in.readFully(answer)
      Json.parse(answer)
    }

    def snapshot(): Boolean = ask("op", "snapshot").path("ok").asBoolean
  }

  private val server = FunFixture[(WorkerServer, Path)](
    setup = _ => {
      val base = Files.createTempDirectory(Paths.get("/tmp"), "real")
      val before = System.setProperty("java.io.tmpdir", base.toString)
      try {
        val made = new WorkerServer(Empty, policies = false)
        made.start()
        (made, base)
      } finally System.setProperty("java.io.tmpdir", before)
    },
    teardown = { case (made, base) =>
      made.close()
      wipe(base)
      Files.delete(base)
    })

  /** What the environment of a worker says that starts now. */
  private def told: JsonNode =
    Json.parse(new ProcessBuilder().environment().get(WorkerFolder.Variable).getBytes(UTF_8))

  private def below(path: Path): Seq[Path] = {
    val all = Files.walk(path)
    try all.iterator().asScala.toList.filter(_ != path)
    finally all.close()
  }

  private def wipe(base: Path): Unit = below(base).reverse.foreach(Files.delete)

  private def descriptors: Int = below(Paths.get("/proc/self/fd")).size

  server.test("after all temporary files were removed, workers find it again, and nothing is left of before") {
    case (made, base) =>
      val before = told
      val old = new Worker(before)
      assert(old.snapshot())
      made.ready()
      val folder = below(base).head
      val open = descriptors
      (1 to 5).foreach { _ =>
        wipe(base)
        made.ready()
        assertEquals(told, before) // also workers that were started before, or by a daemon that was, find it
        assertEquals(below(base).head, folder)
        assert(new Worker(before).snapshot())
      }
      assert(descriptors <= open + 10, s"$open, now $descriptors") // the five workers' ends and ours
      // Its end says that it must connect anew: what is mapped there changes no more.
      intercept[java.io.IOException](old.snapshot())
      made.close()
      assertEquals(below(base), Nil)
  }

  server.test("a part of it is gone") { case (made, base) =>
    Seq("s", "version", ".lock").foreach { name =>
      Files.delete(below(base).head.resolve(name))
      made.ready()
      assert(new Worker(told).snapshot(), name)
    }
  }

  server.test("a link of this name is not followed") { case (made, base) =>
    val folder = below(base).head
    val elsewhere = Files.createTempDirectory(Paths.get("/tmp"), "real")
    val theirs = Files.createFile(elsewhere.resolve("version"))
    wipe(base)
    Files.createSymbolicLink(folder, elsewhere)
    made.ready()
    assertEquals(below(elsewhere), List(theirs))
    Files.delete(folder)
    Files.createDirectory(folder) // that others can enter
    made.ready()
    assertEquals(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)), "rwx------")
    assert(new Worker(told).snapshot())
    wipe(elsewhere)
    Files.delete(elsewhere)
  }

  server.test("without a place for it nothing fails, and later it is made") { case (made, base) =>
    val aside = base.resolveSibling(s"${base.getFileName}-aside")
    Files.move(base, aside)
    try made.ready()
    finally Files.move(aside, base)
    wipe(base)
    made.ready()
    assert(new Worker(told).snapshot())
  }

  server.test("one that was closed stays closed") { case (made, base) =>
    made.close()
    made.ready()
    assertEquals(below(base), Nil)
  }
}
