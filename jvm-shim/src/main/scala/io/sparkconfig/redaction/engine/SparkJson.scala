package io.sparkconfig.redaction.engine

import java.util.regex.Pattern.{compile => regex}

/** The JSON of Spark's event log and REST: readers find nothing in it if a key is masked that Spark gave. */
private[redaction] object SparkJson {

  /** Spark's own names are made of letters, with a space between words in the event log. */
  private val Name = regex("[A-Za-z]+(?: [A-Za-z]+)*").asMatchPredicate()

  /** Under these keys stand maps whose keys are the user's. */
  private val Maps = Set(
    "Properties",
    "Spark Properties",
    "Hadoop Properties",
    "System Properties",
    "Metrics Properties",
    "modifiedConfigs",
    "Attributes",
    "attributes")

  /** Where Spark's own keys stand, and the names of event classes. */
  def keys(text: String): Intervals = {
    val own = new Intervals
    JsonStrings.each(text) { (start, end, isKey, path) =>
      val kept =
        if (isKey) !path.headOption.exists(Maps) && Name.test(text.substring(start, end))
        else path.headOption.contains("Event")
      if (kept) own.add(start, end)
    }
    own
  }
}
