package io.sparkconfig.executor.workers

import java.nio.file.attribute.PosixFilePermissions
import java.nio.file.{Files, Path, Paths}

import munit.FunSuite

class WorkerFolderSuite extends FunSuite {
  private val mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))
  private val property = "java.io.tmpdir"

  private def withTemporary[T](folder: Path)(body: => T): T = {
    val before = System.setProperty(property, folder.toString)
    try body
    finally System.setProperty(property, before)
  }

  private def abandoned(base: Path, name: String, files: String*): Path = {
    val made = Files.createDirectory(base.resolve(name), mode)
    files.foreach(file => Files.createFile(made.resolve(file)))
    made
  }

  test("what a killed process left goes, what lives and what others made stays") {
    val base = Files.createTempDirectory(Paths.get("/tmp"), "real")
    withTemporary(base) {
      val killed = abandoned(base, "123", "s", "version", ".lock")
      val others = Seq(
        abandoned(base, "456", "version"),
        abandoned(base, "789", ".lock"),
        abandoned(base, "name", "s", "version", ".lock"),
        abandoned(base, "321", "version", ".lock", "notes").resolve("notes"))
      val living = WorkerFolder.create()
      assert(!Files.exists(killed))
      others.foreach(path => assert(Files.exists(path), path))
      val next = WorkerFolder.create()
      assert(Files.exists(living.folder))
      Seq(living, next).foreach { made =>
        // Like what any other program makes there: no pattern finds it.
        assert(made.folder.getFileName.toString.matches("\\d+"), made.folder)
        made.remove()
        assert(!Files.exists(made.folder))
      }
    }
  }

  test("a folder below the working directory has a short name") {
    val temporary = Files.createTempDirectory(Paths.get("").toAbsolutePath, "real")
    try {
      val made = WorkerFolder.create(Paths.get("/tmp", "long" * 30) +: WorkerFolder.shorter(temporary).toSeq)
      assert(made.folder.startsWith(s"/proc/${ProcessHandle.current().pid()}/cwd"), made.folder)
      assertEquals(made.folder.toRealPath().getParent, temporary.toRealPath())
      made.remove()
    } finally Files.delete(temporary) // it is empty
    assertEquals(WorkerFolder.shorter(Paths.get("/tmp"), Paths.get("/tm")), None)
  }

  test("a path that is too long for a socket") {
    val long = Files.createDirectories(Files.createTempDirectory(Paths.get("/tmp"), "real").resolve("long" * 30))
    withTemporary(long) {
      val made = WorkerFolder.create()
      assertEquals(made.folder.getParent, Paths.get("/tmp"))
      made.remove()
    }
    val error = intercept[java.io.IOException](WorkerFolder.create(Seq(long, Paths.get("/proc/1/nowhere"))))
    assert(error.getMessage.contains("too long for the path of a Unix socket"), error.getMessage)
    assert(error.getMessage.contains("-Djava.io.tmpdir"), error.getMessage)
  }
}
