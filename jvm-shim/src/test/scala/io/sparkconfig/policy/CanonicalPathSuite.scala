package io.sparkconfig.policy

import java.nio.file.Files

import munit.FunSuite
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.security.UserGroupInformation

/** What a policy's `paths` are compared with: one text, however a user spells the place. */
class CanonicalPathSuite extends FunSuite {
  private val lake = Files.createTempDirectory("paths").toRealPath()

  private def conf(default: String): Configuration = {
    val made = new Configuration(false)
    made.set("fs.defaultFS", default)
    made
  }

  private val Stores = Seq(
    "s3a://bucket",
    "gs://bucket",
    "hdfs://namenode:8020",
    "abfss://container@account.dfs.core.windows.net",
    "oss://bucket")

  for (store <- Stores) {
    val Array(scheme, authority) = store.split("://")
    test(s"spellings of a place in $scheme") {
      for (spelled <- Seq(
          s"$store/a/b",
          s"${scheme.toUpperCase}://$authority/a/b",
          s"$scheme://${authority.toUpperCase}/a/b",
          s"$store//a///b/",
          s"$store/a/./b",
          s"$store/a/x/../b",
          s"$store/../../a/b"))
        assertEquals(CanonicalPath.of(spelled, conf("file:///")), s"$store/a/b", clue(spelled))
      // One that leads out of a folder does so before it is compared, and what a store does not decode stays.
      assertEquals(CanonicalPath.of(s"$store/a/../c", conf("file:///")), s"$store/c")
      assertEquals(CanonicalPath.of(s"$store/a/%2e%2e/c", conf("file:///")), s"$store/a/%2e%2e/c")
    }

    test(s"a path without scheme or host, where $scheme is the default") {
      val user = UserGroupInformation.getCurrentUser.getShortUserName
      for ((spelled, expected) <- Seq(
          "/a/b" -> s"$store/a/b",
          s"$scheme:/a/b" -> s"$store/a/b",
          s"$scheme:///a/b" -> s"$store/a/b",
          "b" -> s"$store/user/$user/b",
          s"file:$lake/b" -> s"file:$lake/b",
          s"FILE://$lake/./b" -> s"file:$lake/b"))
        assertEquals(CanonicalPath.of(spelled, conf(store)), expected, clue(spelled))
      assertEquals(CanonicalPath.of(s"$lake/b", conf(store), local = true), s"file:$lake/b")
    }
  }

  test("spellings of a place on the disk") {
    Files.createDirectories(lake.resolve("a"))
    Files.createSymbolicLink(lake.resolve("link"), lake.resolve("a"))
    for (spelled <- Seq("a/b", "/a//b", "/./a/b", "/link/b", "/link/../link/b", "/a/x/../b")) {
      val path = s"$lake/$spelled"
      for (each <- Seq(path, s"file:$path", s"file://$path", s"FILE:$path"))
        assertEquals(CanonicalPath.of(each, conf("file:///")), s"file:$lake/a/b", clue(each))
    }
  }

  test("a text that is not a path is in no lake") {
    for (text <- Seq("", ":", "s3a:", "://bucket/a"))
      assert(CanonicalPath.of(text, conf("s3a://bucket")).startsWith("unknown:"), clue(text))
  }
}
