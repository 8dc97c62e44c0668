package io.sparkconfig.bindings.sources

import munit.FunSuite

class WeakIdentityMapSuite extends FunSuite {
  test("an object is found, one that equals it is not") {
    val map = new WeakIdentityMap[String, String]
    val key = new String("key")
    map.put(key, "value")
    assertEquals(map.get(key), Some("value"))
    assertEquals(map.get(new String("key")), None)
    assertEquals(map.get(null), None)
    map.put(key, "later")
    assertEquals(map.get(key), Some("later"))
    assertEquals(map.size, 1)
  }

  test("what nobody holds is forgotten") {
    val map = new WeakIdentityMap[Array[Byte], String]
    val kept = new Array[Byte](1)
    map.put(kept, "kept")
    for (_ <- 1 to 1000) map.put(new Array[Byte](1 << 16), "gone")
    while (map.size > 1) System.gc()
    assertEquals(map.get(kept), Some("kept"))
  }
}
