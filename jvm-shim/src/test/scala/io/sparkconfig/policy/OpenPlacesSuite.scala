package io.sparkconfig.policy

import java.io.{File, FileOutputStream}
import java.net.URI
import java.nio.file.{Files, Paths, StandardCopyOption}
import java.util.UUID

import scala.util.Try

import munit.FunSuite
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.hadoop.security.AccessControlException

class OpenPlacesSuite extends FunSuite {
  private val root = Files.createTempDirectory("places").toRealPath()
  Seq("lake/a", "lake/b", "events", "house", "check", "away", "tmp/s3a").foreach(name =>
    Files.createDirectories(root.resolve(name)))
  Files.createFile(root.resolve("login.jceks"))
  Files.createSymbolicLink(root.resolve("lake/out"), root.resolve("away"))
  Files.createSymbolicLink(root.resolve("in"), root.resolve("lake"))

  private val spark = Map(
    "spark.sql.warehouse.dir" -> s"file:$root/house",
    "spark.sql.streaming.checkpointLocation" -> s"$root/check",
    "spark.eventLog.dir" -> s"file://$root/events",
    "spark.acme.key.file" -> s"$root/away/key",
    "spark.acme.store" -> "abfss://c@a.example/x",
    "spark.acme.proxy" -> "http://proxy.example/")
  private val hadoop = new Configuration(false)
  hadoop.set("fs.defaultFS", "file:///")
  hadoop.set("hadoop.tmp.dir", s"$root/tmp")
  hadoop.set("fs.s3a.buffer.dir", "${hadoop.tmp.dir}/s3a,/elsewhere")
  hadoop.set("hadoop.security.credential.provider.path", s"jceks://file$root/login.jceks,sparkconfig:///")

  private def has(open: OpenPlaces, file: File, above: Boolean = false): Boolean =
    open.has(file, file.getCanonicalPath, above)

  private def places(paths: String*) = OpenPlaces.of(paths, spark, hadoop)

  test("the lake, and what confs name for it, after links") {
    val open = places(s"file:$root/lake/*", "s3a://bucket/*")
    val tmp = System.getProperty("java.io.tmpdir")
    for ((path, expected) <- Seq(
        "lake" -> true,
        "lake/a/b" -> true,
        "in/a" -> true,
        "lake/out/a" -> false,
        "lake/../away" -> false,
        "lakes" -> false,
        "away/key" -> false,
        "house/t/a" -> true,
        "check/0" -> true,
        "tmp/s3a/x" -> true,
        "login.jceks" -> true,
        // No session and no task: the server's own work.
        "events/app" -> true)) assertEquals(has(open, root.resolve(path).toFile), expected, clue(path))
    for ((path, expected) <- Seq(
        "/elsewhere/a" -> true,
        "/etc/passwd" -> false,
        s"$tmp/temporary-${UUID.randomUUID}/metadata" -> true,
        s"$tmp/temporary-x/metadata" -> false))
      assertEquals(has(open, new File(path)), expected, clue(path))
    assert(!has(open, root.toFile))
    assert(has(open, root.toFile, above = true))
    assert(!has(open, root.resolve("away").toFile, above = true))
  }

  test("a link leads nowhere out of its folder, whichever way it is reached") {
    val scratch =
      Files.createDirectories(new File(System.getProperty("java.io.tmpdir"), s"temporary-${UUID.randomUUID}").toPath)
    val open = places(s"file:$root/lake/a/*", s"file:$root/lake/b/*")
    val ofUsers = places(s"file:$root/lake/{user}/*")
    for ((to, expected) <- Seq(
        root.resolve("lake/b") -> false,
        root.resolve("house") -> false,
        root.resolve("check") -> false,
        root.resolve("tmp/s3a") -> false,
        root.resolve("login.jceks") -> false,
        root.resolve("events") -> false,
        scratch -> false,
        root.resolve("lake") -> false,
        root.resolve("lake/a/own") -> true)) {
      val link = root.resolve("lake/a/link")
      Files.deleteIfExists(link)
      Files.createSymbolicLink(link, to)
      for (path <- Seq("lake/a/link", "in/a/link", "lake/a/link/x", "in/a/link/x"))
        for (each <- Seq(open, ofUsers))
          assertEquals(has(each, root.resolve(path).toFile, above = path.endsWith("link")), expected, clue(path -> to))
    }
    assert(has(open, root.resolve("in/a/x").toFile))
    Files.delete(scratch)
  }

  test("a file that is open is looked at again: a link may have come into its way") {
    assume(Files.exists(Paths.get("/proc/self/fd")))
    SharedFiles.close(places(s"file:$root/lake/*"))
    val named = root.resolve("lake/a/own").toFile
    try for ((opened, isRefused) <- Seq("away/key" -> true, "lake/a/own" -> false)) {
        val stream = new FileOutputStream(root.resolve(opened).toFile)
        assertEquals(Try(SharedFiles.checkOpen(named, stream.getFD)).isFailure, isRefused, clue(opened))
        stream.close()
      }
    finally SharedFiles.release()
  }

  test("a pipe in the lake is not opened, by whatever name: nothing would end the wait") {
    SharedFiles.close(places(s"file:$root/lake/*"))
    val system = new SharedLocalFileSystem
    system.initialize(URI.create("file:///"), hadoop)
    val own = Files.write(root.resolve("lake/a/own"), "own".getBytes)
    val pipes = Seq("pipe", ".own.crc").map(root.resolve("lake/a").resolve(_))
    try {
      for (pipe <- pipes) assertEquals(new ProcessBuilder("mkfifo", pipe.toString).start().waitFor(), 0)
      val refused = intercept[AccessControlException](system.open(new Path(pipes.head.toUri)))
      assert(refused.getMessage.contains("pipe or device"), clue(refused))
      // Hadoop goes on without the file's sums.
      assertEquals(system.open(new Path(own.toUri)).read(), 'o'.toInt)
    } finally {
      pipes.foreach(Files.delete)
      SharedFiles.release()
    }
  }

  test("a link that is turned while a file is opened or a folder made: no file is emptied, and the work ends") {
    assume(Files.exists(Paths.get("/proc/self/fd")))
    val (outside, link) = (root.resolve("away/kept"), root.resolve("lake/a/turned"))
    Files.write(outside, "kept".getBytes)
    def turn(to: String): Unit = {
      val next = Files.createSymbolicLink(root.resolve("next"), root.resolve(to))
      Files.move(next, link, StandardCopyOption.ATOMIC_MOVE): Unit
    }
    turn("lake/a")
    SharedFiles.close(places(s"file:$root/lake/a/*"))
    val system = new SharedRawFileSystem
    system.initialize(URI.create("file:///"), hadoop)
    val turning = new Thread(() => while (!Thread.interrupted()) Seq("away", "lake/a").foreach(turn))
    turning.start()
    try {
      for (_ <- 1 to 2000) Try(system.create(new Path(s"$link/kept"), true).close())
      assertEquals(new String(Files.readAllBytes(outside)), "kept")
      turning.interrupt()
      turning.join()
      turn("lake/a")
      val made = new File(link.toFile, "made") {
        override def mkdir(): Boolean = { turn("away"); super.mkdir() }
      }
      intercept[AccessControlException](system.mkOneDirWithMode(new Path(made.getPath), made, null))
      val own = new Path(s"$root/lake/a/own")
      for (text <- Seq("first and long", "short")) {
        val stream = system.create(own, true)
        stream.write(text.getBytes)
        stream.close()
      }
      assertEquals(new String(Files.readAllBytes(Paths.get(own.toString))), "short")
    } finally {
      turning.interrupt()
      SharedFiles.release()
    }
  }

  test("a pattern is a folder as far as it has names") {
    for ((pattern, in, out) <- Seq(
        (s"file:$root/lake/*", "lake/b", "lakes/b"),
        (s"file:$root/lake*", "away/b", "../b"),
        (s"file:$root/lake/{user}/*", "lake/ann/b", "away/b"),
        (s"file://$root/lake/*", "lake/b", "away"))) {
      assert(has(places(pattern), root.resolve(in).toFile), clue(pattern))
      assert(!has(places(pattern), root.resolve(out).normalize.toFile), clue(pattern))
    }
    assert(has(places("*"), new File("/etc/passwd")))
  }

  test("a scheme has a file system if the policy or a conf has it, and none of the web for a conf's sake") {
    val open = places(s"file:$root/lake/*", "S3A://bucket/*")
    assertEquals(
      Seq("file", "s3a", "abfss", "http", "ftp", "webhdfs", "har").filter(open.hasScheme),
      Seq("file", "s3a", "abfss"))
    assert(places("https://data.example/*").hasScheme("https"))
    assert(places("*").hasScheme("ftp"))
  }
}
