package io.sparkconfig.core

/** How long a refused use waits for its stores. */
private[sparkconfig] object Renewal {

  /** As long as a slow store may hold up any other use. */
  val PatienceMs = 2000L

  /**
   * Asks until the values are others than those refused, or every store was asked since.
   *
   * @param ask asks; returns after how many milliseconds asking again is worthwhile, or 0
   * @param now the values by now
   */
  def until(refused: Used)(ask: () => Long)(now: => Used): Used = {
    val deadline = System.nanoTime() + PatienceMs * 1000000
    var waitMs = ask()
    var newest = now
    while (newest.sameAs(refused) && waitMs > 0 && System.nanoTime() + waitMs * 1000000 <= deadline) {
      Thread.sleep(waitMs)
      waitMs = ask()
      newest = now
    }
    newest
  }
}
