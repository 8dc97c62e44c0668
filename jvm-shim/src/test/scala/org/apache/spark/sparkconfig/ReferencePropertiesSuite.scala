package org.apache.spark.sparkconfig

import java.util.concurrent.ConcurrentHashMap

import io.sparkconfig.core.SparkConfigException
import munit.FunSuite
import org.apache.spark.sparkconfig.access.HadoopValues

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

  test("a copy with a key without a value can be made, and who reads that key, or all keys, gets the error") {
    var missing = true
    val values = new HadoopValues {
      override def of(key: String, text: String, copy: Boolean): Option[String] =
        if (missing && text == "$missing") throw new SparkConfigException(s"$key has no value")
        else Some(text.toUpperCase)
    }
    val application = new ReferenceProperties(values, false, new ConcurrentHashMap())
    intercept[SparkConfigException](application.setProperty("fs.key", "$missing"))
    assertEquals(application.getProperty("fs.key"), null)
    val session = application.clone().asInstanceOf[ReferenceProperties]
    session.setProperty("fs.key", "before")
    session.setProperty("fs.key", "$missing")
    session.setProperty("fs.other", "other")
    val copies = Seq(session, session.clone().asInstanceOf[ReferenceProperties])
    copies.foreach { copy =>
      assertEquals(copy.getProperty("fs.other"), "OTHER")
      Seq[() => Any](() => copy.getProperty("fs.key"), () => copy.getProperty("fs.key", "none"), () => copy.entrySet())
        .foreach(read => assert(intercept[SparkConfigException](read()).getMessage.contains("fs.key")))
    }
    copies.head.setProperty("fs.key", "good")
    missing = false
    assertEquals(copies.map(_.getProperty("fs.key")), Seq("GOOD", "$MISSING"))
    copies.foreach(_.remove("fs.key"))
    assertEquals(copies.map(_.getProperty("fs.key")), Seq(null, null))
  }
}
