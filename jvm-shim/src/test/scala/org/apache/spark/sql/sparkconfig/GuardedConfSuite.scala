package org.apache.spark.sql.sparkconfig

import munit.FunSuite
import org.apache.spark.sql.internal.{SQLConf, VariableSubstitution}

class GuardedConfSuite extends FunSuite {
  private val key = "spark.shop.color"

  private object Accepting extends ConfGuard {
    override def setting(key: String, text: String): Unit = ()
    override def isHidden(key: String): Boolean = false
    override def remaining(key: String): Option[String] = standing.get(key)
    override def standing: Map[String, String] = Map("spark.shop.kept" -> "yes")
    override def removed(): Unit = ()
  }

  private object Refusing extends ConfGuard {
    override def setting(key: String, text: String): Unit = throw new IllegalArgumentException("refused")
    override def isHidden(key: String): Boolean = false
    override def remaining(key: String): Option[String] = standing.get(key)
    override def standing: Map[String, String] = Map("spark.shop.kept" -> "yes")
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

  test("at no time a session lacks what stays") {
    val conf = new SQLConf
    Seq("spark.shop.kept" -> "yes", key -> "red").foreach { case (each, text) => conf.setConfString(each, text) }
    assert(GuardedConf.install(conf, Accepting))
    for (take <- Seq[() => Unit](() => conf.unsetConf("spark.shop.kept"), () => conf.clear())) {
      @volatile var isDone = false
      val taking = new Thread(() => { (1 to 20000).foreach(_ => take()); isDone = true })
      taking.start()
      while (!isDone) assertEquals(conf.getConfString("spark.shop.kept", "missing"), "yes")
      taking.join()
    }
    assertEquals(GuardedConf.texts(conf), Map("spark.shop.kept" -> "yes"))
  }

  for ((text, expected) <- Seq(
      "${" * 500000 -> None,
      "${a:b" * 200000 -> None,
      "{${" * 300000 -> None,
      "$${" * 300000 -> None,
      "${}" * 300000 -> None,
      "a${" + "b" * 1000000 -> None,
      "${" + "b:" * 500000 -> None,
      "${a" * 300000 + "}" -> Some("${a" * 299999),
      "${shop.color} ${ " * 50000 -> Some("red ${ " * 50000),
      "${spark:shop.color}${none}" -> Some("red"),
      "${hivevar:${shop.color}}" -> Some("${hivevar:red}"),
      "${" + "b" * 900 + "}" -> Some(""))) {
    test(s"Spark puts values into a text of any length at once: ${text.take(9)}") {
      SqlVariables.bound()
      val conf = new SQLConf
      conf.setConfString("shop.color", "red")
      SQLConf.withExistingConf(conf) {
        assert(new VariableSubstitution().substitute(text) == expected.getOrElse(text))
        assertEquals(SqlVariables.ofServer(text), Set.empty[String])
      }
    }
  }
}
