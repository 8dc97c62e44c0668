package org.apache.spark.sql.sparkconfig

import munit.FunSuite
import org.apache.spark.sql.internal.SQLConf

class GuardedConfSuite extends FunSuite {
  private val key = "spark.shop.color"

  private object Accepting extends ConfGuard {
    override def setting(key: String, text: String): Unit = ()
    override def removed(): Unit = ()
  }

  private object Refusing extends ConfGuard {
    override def setting(key: String, text: String): Unit = throw new IllegalArgumentException("refused")
    override def removed(): Unit = ()
  }

  test("what another thread sets while the guard is put there is not lost") {
    val conf = new SQLConf
    // A thread that has begun to set a conf holds the map of before.
    val before = conf.settings
    assert(GuardedConf.install(conf, Accepting))
    before.put(key, "red")
    assertEquals(conf.getConfString(key), "red")
    assertEquals(GuardedConf.texts(conf).get(key), Some("red"))
  }

  test("what is refused leaves the old value") {
    val conf = new SQLConf
    conf.setConfString(key, "red")
    assert(GuardedConf.install(conf, Refusing))
    intercept[IllegalArgumentException](conf.setConfString(key, "blue"))
    assertEquals(conf.getConfString(key), "red")
    GuardedConf.restore(conf, Map(key -> None))
    assertEquals(GuardedConf.texts(conf).get(key), None)
  }
}
