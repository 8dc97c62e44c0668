package io.sparkconfig.redaction

/**
 * Texts that stand in logs and pages for other reasons than being a secret; masking them would destroy both.
 * The same list is in python/sparkconfig/redaction.py, where the warning is given; a test compares the two.
 */
private[redaction] object CommonWords {
  private val words: Set[String] =
    """password passw0rd password1 changeit changeme username postgres postgresql database localhost redacted
       administrator default_value undefined disabled required optional blockquote colgroup fieldset figcaption
       noscript optgroup progress template textarea javascript stylesheet content-type text/html application
       completed succeeded running executor executors submitted timestamp properties jdbc:postgresql
       127.0.0.1 0.0.0.0 12345678 00000000 11111111 sparkcontext sparksession anonymous workspace""".split("\\s+").toSet

  /** Whether a value may be masked wherever it occurs. */
  def worthRegistering(value: String): Boolean =
    value.trim.length >= Variants.Floor && !words(value.trim.toLowerCase(java.util.Locale.ROOT)) && !value.startsWith("spark.")
}
