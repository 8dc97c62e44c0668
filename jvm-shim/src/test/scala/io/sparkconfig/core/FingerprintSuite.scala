package io.sparkconfig.core

import munit.FunSuite

class FingerprintSuite extends FunSuite {
  test("the same for the same options, in any order") {
    assertEquals(Fingerprint.of(Map("a" -> "b", "c" -> "d")), Fingerprint.of(Map("c" -> "d", "a" -> "b")))
    assertEquals(Fingerprint.of(Map("a" -> null)), Fingerprint.of(Map("a" -> null)))
  }

  test("another for any others, those of the same hash code too") {
    val options = Seq[(Map[String, String], Seq[String])](
      Map("password" -> "Aa") -> Nil,
      Map("password" -> "BB") -> Nil,
      Map("passwordA" -> "a") -> Nil,
      Map("password" -> "A", "a" -> "") -> Nil,
      Map("password" -> "-") -> Nil,
      Map("password" -> null) -> Nil,
      Map("password" -> "") -> Nil,
      Map("password" -> "Aa") -> Seq("x"),
      Map("password" -> "Aa", "x" -> "") -> Nil,
      Map("password" -> "1:A1:a") -> Nil,
      Map.empty -> Seq("password", "Aa"),
      Map.empty -> Nil)
    assertEquals(options.map { case (map, more) => Fingerprint.of(map, more) }.toSet.size, options.size)
  }
}
