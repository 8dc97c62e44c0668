package io.sparkconfig.scrub

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path => LocalPath, StandardOpenOption}

import munit.FunSuite
import org.apache.hadoop.fs.Path

class FrameWriterSuite extends FunSuite {
  private def log(): LocalPath =
    Files.write(Files.createTempDirectory("scrub").resolve("a log"), "old\n".getBytes(UTF_8))

  private def frames(path: LocalPath, seen: String): Iterator[Array[Byte]] = Iterator(
    Frame(Frame.File, s"$seen\t${path.toUri.getPath}"),
    Frame(Frame.Data, "new\n"),
    Frame(Frame.End, """{"keep": true}"""))

  private def seen(path: LocalPath): String =
    Replacement.seen(new Path(path.toUri.getPath), new FileSystems(null))

  private def content(path: LocalPath): String = new String(Files.readAllBytes(path), UTF_8)

  test("new content takes the place of what was read") {
    val path = log()
    val results = new FrameWriter(frames(path, seen(path))).toList
    assertEquals(results, List("""{"changed":true}"""))
    assertEquals(content(path), "new\n")
  }

  test("what was written between the reading and the new content is not lost") {
    val path = log()
    val before = seen(path)
    Files.write(path, "a line more\n".getBytes(UTF_8), StandardOpenOption.APPEND)
    val results = new FrameWriter(frames(path, before)).toList
    assert(results.head.contains(Replacement.Changed), results)
    assertEquals(content(path), "old\na line more\n")
    assertEquals(path.getParent.toFile.list().toList, List("a log"))
  }
}
