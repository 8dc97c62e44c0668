package io.sparkconfig.redaction.engine

import scala.concurrent.duration.Duration
import scala.util.Random

import munit.FunSuite

class SearchSuite extends FunSuite {
  // Long searches, on a machine that may be busy.
  override val munitTimeout: Duration = Duration(5, "min")

  private val Alphabet = "abXY09-_.é "

  private def search(texts: String*): Search = {
    val made = new Search
    texts.foreach(text => made.add(Needle(text)))
    made
  }

  private def found(search: Search, text: String): Set[(Int, Int)] = {
    val all = search.find(text, Client.Unknown)
    (0 until all.size).map(i => all.start(i) -> all.end(i)).toSet
  }

  private def places(found: Set[(Int, Int)]): Set[Int] = found.flatMap { case (start, end) => start until end }

  private def expected(patterns: Seq[String], text: String): Set[(Int, Int)] = for {
    pattern <- patterns.toSet[String]
    at <- text.indices
    if text.startsWith(pattern, at)
  } yield at -> (at + pattern.length)

  private def word(random: Random, length: Int): String =
    Seq.fill(length)(Alphabet.charAt(random.nextInt(Alphabet.length))).mkString

  (1 to 8).foreach { seed =>
    test(s"all places and no others are found, seed $seed") {
      val random = new Random(seed)
      val patterns = Seq.fill(30)(word(random, 4 + random.nextInt(21))).filter(_.trim.nonEmpty).distinct
      val made = search(patterns: _*)
      (1 to 20).foreach { _ =>
        val parts = Seq.fill(12)(
          if (random.nextBoolean()) patterns(random.nextInt(patterns.size)) else word(random, random.nextInt(9)))
        val text = parts.mkString
        assertEquals(places(found(made, text)), places(expected(patterns, text)), s"seed $seed")
      }
    }
  }

  test("a value is found wherever it stands to the chunks of a long text") {
    val long = "Tr0ub4dorAndThree"
    val short = "k3yX"
    val none = "+/-="
    val made = search(long, short, none)
    Seq(0, 1, 4095, 4096, 16383, 16384, 65535, 65536, 131071, 262143, 262144).foreach { at =>
      Seq(long, short, none).foreach { value =>
        val before = math.max(0, at - value.length / 2)
        val text = "." * before + value + "." * 40
        assertEquals(found(made, text), Set(before -> (before + value.length)), s"at $before")
      }
    }
  }

  test("a value with a long run is found wherever it stands in a longer one, and to the chunks of a long text") {
    val values = Seq("Tr0ub4dorAndThree", "aB3" * 20, "0123456789abcdef")
    val made = search(values: _*)
    for {
      value <- values
      base <- Seq(0, Bytes.Chunk - 100, Bytes.Chunk, 2 * Bytes.Chunk - 40)
      before <- 0 to 40
      behind <- Seq("", "x", ".x", "x" * 17)
    } {
      val start = base + before
      val text = "-" * base + "x" * before + value + behind
      assert(found(made, text)(start -> (start + value.length)), s"at $start, before '$behind'")
    }
  }

  test("a value in escapes is found at every seam of a text that is unescaped in pieces") {
    val value = "it's<Tr0ub4dor>"
    val written = "it\\u0027s\\u003cTr0ub4dor\\u003e"
    val made = search(value)
    val seam = 1 << 22
    val text = new java.lang.StringBuilder("x" * (2 * seam + (1 << 17)))
    val places = Seq(0, seam - 7, seam + (1 << 16) - 20, 2 * seam - 31, 2 * seam + 9, text.length - written.length)
    places.foreach(at => text.replace(at, at + written.length, written))
    assertEquals(found(made, text.toString), places.map(at => at -> (at + written.length)).toSet)
  }

  test("characters that share their low byte with a value's are not the value") {
    val value = "secretValue99"
    val twin = value.map(c => (c + 0x100).toChar)
    assertEquals(found(search(value), s"x $twin x"), Set.empty[(Int, Int)])
  }

  // Every value of such a set, and of one whose longest runs are long, has one word in common with all others.
  Seq("tenant-password-%05d-x", "customer-passphrases-%05d-x", "customerpassphrases-%09d").foreach { shape =>
    test(s"ten thousand values alike are told apart in linear time: $shape") {
      val values = (0 until 10000).map(i => shape.format(i))
      val made = search(values: _*)
      val text = (0 until 10000 by 7).map(i => s"${shape.format(i)} ${shape.format(i).init}y").mkString(" ")
      assertEquals(found(made, text).size, (0 until 10000 by 7).size)
    }
  }

  test("values alike do not change where others are found") {
    val others = Seq("Tr0ub4dorAndThree", "k3yXq", "+/-=", "a+b/c-d=")
    val made = search((0 until 1000).map(i => f"customer-passphrases-$i%04d-x") ++ others: _*)
    val text = others.mkString("<", "> <", "> customer-passphrases-0999-x, not customer-passphrases-1000-x")
    assertEquals(
      found(made, text).map { case (start, end) => text.substring(start, end) },
      others.toSet + "customer-passphrases-0999-x")
  }

  test("no needle finds nothing") {
    assertEquals(found(search(), "any text"), Set.empty[(Int, Int)])
  }
}
