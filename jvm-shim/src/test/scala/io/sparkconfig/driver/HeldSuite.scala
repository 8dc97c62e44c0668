package io.sparkconfig.driver

import io.sparkconfig.core.Snapshot
import munit.FunSuite

class HeldSuite extends FunSuite {
  private def read(connection: Long, generation: Long, values: (String, String)*) = Snapshot(
    generation,
    values.toMap,
    Set.empty,
    redactOf = values.map { case (id, value) => id -> Seq(value) }.toMap,
    connection = connection)

  private final class Driver(first: Snapshot) {
    var masked = Set.empty[String]
    val held = new Held(first, news => masked ++= news.secretValues)

    def has: (Long, Map[String, String]) = (held.get.generation, held.get.values)
  }

  test("an answer of a process that has ended counts no more once another one was told what to go on from") {
    val driver = new Driver(read(1, 1, "a" -> "first"))
    val late = read(1, 2, "a" -> "of the dead")
    assertEquals(driver.held.continuedOver(2).generation, 1L)
    assertEquals(driver.held.take(late), None)
    assertEquals(driver.has, (1L, Map("a" -> "first")))
    driver.held.take(read(2, 2, "a" -> "newest"))
    assertEquals(driver.has, (2L, Map("a" -> "newest")), "the same generation, of the process that lives")
    assertEquals(driver.held.take(late), None)
    assertEquals(driver.held.take(read(1, 9, "a" -> "higher")), None)
    assertEquals(driver.held.take(read(1, 2, "b" -> "another")), None)
    assertEquals(driver.has, (2L, Map("a" -> "newest")))
    assert(Seq("of the dead", "higher", "another").forall(driver.masked), "a use may have them: they are masked")
  }

  test("an answer that was taken before belongs to what the next process is told") {
    val driver = new Driver(read(1, 1, "a" -> "first"))
    driver.held.take(read(1, 2, "a" -> "second"))
    val told = driver.held.continuedOver(2)
    assertEquals((told.generation, told.values), (2L, Map("a" -> "second")))
    driver.held.take(read(2, 2, "b" -> "more"))
    assertEquals(driver.has, (2L, Map("a" -> "second", "b" -> "more")))
  }

  test("a process that failed while it started leaves its number behind, and the one after it counts") {
    val driver = new Driver(read(1, 5, "a" -> "first"))
    driver.held.continuedOver(2)
    driver.held.continuedOver(3)
    assertEquals(Seq(1L, 2L).flatMap(number => driver.held.take(read(number, 6, "a" -> "old"))), Nil)
    driver.held.take(read(3, 6, "a" -> "new"))
    assertEquals(driver.has, (6L, Map("a" -> "new")))
  }

  test("of answers that cross the newer one stays, and each is masked") {
    val driver = new Driver(read(1, 1))
    driver.held.take(read(1, 3, "a" -> "three"))
    assert(driver.held.take(read(1, 2, "a" -> "two")).nonEmpty)
    driver.held.take(read(1, 3, "a" -> "three", "b" -> "of the same"))
    assertEquals(driver.has, (3L, Map("a" -> "three", "b" -> "of the same")))
    assertEquals(driver.masked, Set("two", "three", "of the same"))
  }
}
