package org.apache.spark.sparkconfig

import java.util.concurrent.ConcurrentHashMap

import munit.FunSuite

class ReferencePropertiesSuite extends FunSuite {

  private def properties(answer: String => String): ReferenceProperties = {
    val values = new HadoopValues {
      override def of(key: String, text: String, copy: Boolean): Option[String] = Some(answer(text))
    }
    new ReferenceProperties(values, false, new ConcurrentHashMap())
  }

  test("no lock of the properties is held while a value is asked for, so that a change can be published meanwhile") {
    var held = true
    lazy val made: ReferenceProperties = properties { text => held = Thread.holdsLock(made); text.toUpperCase }
    made.setProperty("fs.password", "text")
    assert(!held)
    assertEquals(made.getProperty("fs.password"), "TEXT")
  }

  test("a change between the answer and its entry is not undone") {
    var newest = "first"
    val made = properties { _ =>
      val answer = newest; newest = "second"; answer
    }
    made.setProperty("fs.password", "text")
    assertEquals(made.getProperty("fs.password"), "second")
  }
}
