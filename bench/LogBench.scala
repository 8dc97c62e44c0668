package bench

import org.slf4j.LoggerFactory

/** Log lines as fast as they go, to whatever appender the application has. */
object LogBench {
  private val log = LoggerFactory.getLogger("bench.LogBench")

  private val text = "Finished task {}.0 in stage 7.0 (TID {}) in 12 ms on worker-17.shop.example (executor 3) (7/200)"

  /**
   * @param warnings whether the level is WARN, not INFO
   * @return milliseconds
   */
  def run(lines: Int, warnings: Boolean): Double = {
    val began = System.nanoTime()
    var i = 0
    while (i < lines) {
      if (warnings) log.warn(text, i % 200, i) else log.info(text, i % 200, i)
      i += 1
    }
    (System.nanoTime() - began) / 1e6
  }
}
