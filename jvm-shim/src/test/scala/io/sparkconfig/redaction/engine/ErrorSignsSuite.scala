package io.sparkconfig.redaction.engine

import scala.util.Random

class ErrorSignsSuite extends munit.FunSuite {
  private def in(text: String) = ErrorSigns.in(text)
  private def expected(text: String) = Constants.ErrorSigns.exists(text.contains(_))

  test("each word is found wherever it stands, at the borders of the chunks too") {
    for {
      sign <- Constants.ErrorSigns
      before <- (0 to 20) ++ (Bytes.Chunk - 20 to Bytes.Chunk + 20)
    } {
      assert(in("." * before + sign), s"'$sign' behind $before characters")
      assert(in("." * before + sign + " and more"), s"'$sign' behind $before characters, before others")
      assert(!in("." * before + sign.dropRight(1)), s"'$sign', cut, behind $before characters")
    }
  }

  test("what is found is what contains() finds") {
    val random = new Random(7)
    val near = Constants.ErrorSigns.flatMap(sign => Seq(sign, sign.tail, sign.init, sign.toLowerCase))
    val parts = near ++ Seq(" ", "e", "r", "\u0172rror", 0xd83d.toChar.toString)
    (0 until 20000).foreach { _ =>
      val text = Seq.fill(random.nextInt(4))(parts(random.nextInt(parts.length)).drop(random.nextInt(3))).mkString
      assertEquals(in(text), expected(text), text)
    }
  }
}
