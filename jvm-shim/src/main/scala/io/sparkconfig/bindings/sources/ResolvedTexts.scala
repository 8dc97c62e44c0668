package io.sparkconfig.bindings.sources

/**
 * Values that spell a reference themselves. Spark makes new maps, relations and plans of the options that a source
 * got, and the rules meet them again: they know such a value by its object, which those all share, and leave it alone.
 * A text that a user writes is another object, whatever it spells.
 */
private[sources] object ResolvedTexts {
  private val known = new WeakIdentityMap[String, ResolvedTexts.type]

  /** The text as an object of its own, which is never resolved. */
  def mark(value: String): String = {
    val own = new String(value)
    known.put(own, this)
    own
  }

  def contains(text: String): Boolean = known.get(text).isDefined
}
