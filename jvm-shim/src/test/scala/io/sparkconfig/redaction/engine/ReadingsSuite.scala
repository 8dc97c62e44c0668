package io.sparkconfig.redaction.engine

import munit.FunSuite

class ReadingsSuite extends FunSuite {
  private val Value = "p\"a'ss & w<ö>"

  private def readings(text: String, steps: Long = 100000): Readings = new Readings(text, new Budget(steps))

  private def ends(text: String, character: Int): Seq[Int] = {
    val out = new Positions
    readings(text).ends(0, character, Readings.Depth, out)
    (0 until out.size).map(out(_)).sorted
  }

  Seq(
    "raw" -> Value,
    "JSON" -> "p\\\"a'ss & w<\\u00f6>",
    "JSON in JSON" -> "p\\\\\\\"a'ss & w<\\\\u00f6>",
    "XML" -> "p&quot;a&apos;ss &amp; w&lt;&#246;&gt;",
    "XML, hexadecimal" -> "p&#x22;a&#x27;ss &#x26; w&#x3C;&#xF6;&#x3E;",
    "XML twice" -> "p&amp;quot;a&amp;apos;ss &amp;amp; w&amp;lt;&amp;#246;&amp;gt;",
    "percent" -> "p%22a%27ss%20%26%20w%3C%C3%B6%3E",
    "form" -> "p%22a%27ss+%26+w%3C%C3%B6%3E",
    "SQL" -> "p\"a''ss & w<ö>",
    "Python's bytes" -> "p\"a\\'ss & w<\\xc3\\xb6>",
    "octal" -> "p\\\"a\\'ss & w<\\303\\266>").foreach { case (name, written) =>
    test(s"a value is read: $name") {
      assertEquals(readings(written + "!").matchRight(Value, 0, 0), written.length)
      assertEquals(readings("!" + written).matchLeft(Value, Value.length, written.length + 1), 1)
    }
    test(s"another value is not: $name") {
      assertEquals(readings(written).matchRight(Value.replace('ö', 'o'), 0, 0), -1)
    }
  }

  test("one character has several ends where its escape could be two") {
    assertEquals(ends("\\\\", '\\'), Seq(1, 2))
  }

  test("letters and digits are read raw alone") {
    assertEquals(ends("\\u0061", 'a'), Seq(6))
    assertEquals(ends("b", 'a'), Seq.empty)
  }

  test("a set of positions is capped and holds each once") {
    val all = new Positions
    (0 to 2 * Positions.Cap).foreach { p => all.add(p); all.add(p) }
    assertEquals(all.size, Positions.Cap)
    assertEquals((all.min, all.max), (0, Positions.Cap - 1))
  }

  test("a text that costs more than its budget is given up") {
    intercept[ScanOverload](readings("\\" * 64, steps = 100).matchRight("\\" * 32, 0, 0))
  }
}
