package io.sparkconfig.driver

import munit.FunSuite

class HadoopReferencesSuite extends FunSuite {

  test("megabytes of beginnings of references are read once") {
    val none = new HadoopReferences(Map.empty, Map.empty)
    for (part <- Seq("${", "${a", "$${", "${}{", "${a}", "${a}:"); end <- Seq("", "}"))
      assertEquals(none.of("nullValue", part * 1000000 + end, copy = false), None, clue(part + end))
  }
}
