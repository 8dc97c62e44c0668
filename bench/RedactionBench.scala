import java.nio.file.{Files, Paths}
import java.util.regex.Pattern

import io.sparkconfig.redaction.engine.Redactor

/** Measures one text and one set of values; prints one JSON object, speeds in MB (10^6 characters) a second. */
object RedactionBench {
  @volatile private var sink = 0L

  def main(arguments: Array[String]): Unit = {
    val lines = Files.readAllLines(Paths.get(arguments(0))).toArray(new Array[String](0))
    val values = Files.readAllLines(Paths.get(arguments(1))).toArray(new Array[String](0))
    val size = lines.map(_.length + 1L).sum
    val began = clock.getCurrentThreadCpuTime
    Redactor.register(values)
    Redactor.redact("to build the index")
    val build = (clock.getCurrentThreadCpuTime - began) / 1e6
    val ours = speed(size, lines)(line => if (Redactor.redact(line) eq line) 0 else 1)
    // The slow ones get fewer lines: their speed per character is the same.
    val few = lines.take(math.max(20, lines.length / math.max(1, values.length / 4)))
    val fewSize = few.map(_.length + 1L).sum
    val indexOf = speed(fewSize, few)(line => { var n = 0; values.foreach(v => if (line.indexOf(v) >= 0) n += 1); n })
    val pattern = Pattern.compile(values.map(Pattern.quote).mkString("|"))
    val regex = speed(fewSize, few)(line => if (pattern.matcher(line).find()) 1 else 0)
    val bytes = lines.map(_.getBytes("UTF-8"))
    val copy = speed(size, bytes)(line => line.clone().length)
    val netty = nettySearch(values).map(search => speed(size, bytes)(search)).getOrElse(0.0)
    println(
      s"""{"build_ms": $build, "ours": $ours, "indexOf": $indexOf, "regex": $regex, """ +
        s""""netty": $netty, "copy": $copy}""")
  }

  /** Netty's own Aho-Corasick, over a buffer around each line. */
  private def nettySearch(values: Array[String]): Option[Array[Byte] => Int] =
    try {
      val factory = io.netty.buffer.search.AbstractMultiSearchProcessorFactory
        .newAhoCorasicSearchProcessorFactory(values.map(_.getBytes("UTF-8")): _*)
      Some(line => io.netty.buffer.Unpooled.wrappedBuffer(line).forEachByte(factory.newSearchProcessor()))
    } catch { case _: LinkageError => None }

  private val clock = java.lang.management.ManagementFactory.getThreadMXBean

  /** By the processor time of this thread: other work on the machine does not count. */
  private def speed[A](size: Long, lines: Array[A])(search: A => Int): Double = {
    def once(): Double = {
      val began = clock.getCurrentThreadCpuTime
      var n = 0L
      lines.foreach(line => n += search(line))
      sink += n
      (clock.getCurrentThreadCpuTime - began) / 1e9
    }
    val deadline = clock.getCurrentThreadCpuTime + 1000000000L
    var best = once()
    while (clock.getCurrentThreadCpuTime < deadline) best = math.min(best, once())
    size / best / 1e6
  }
}
