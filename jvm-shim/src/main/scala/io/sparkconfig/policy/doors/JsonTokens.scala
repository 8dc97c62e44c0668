package io.sparkconfig.policy.doors

import java.io.IOException

import scala.collection.mutable

import com.fasterxml.jackson.core.{JsonFactory, JsonParser, JsonToken}

/** JSON that users write, read token by token: a tree of it takes many times the memory of the text. */
private[doors] object JsonTokens {
  private val json = new JsonFactory()

  /**
   * Whether any key of any object fits; None: the text is not JSON.
   *
   * @param fits the key, and its value if that is a text
   */
  def exists(text: String)(fits: (String, Option[String]) => Boolean): Option[Boolean] = reading(text) { parser =>
    var key: Option[String] = None
    var found = false
    var token = parser.nextToken()
    while (token != null && !found) {
      if (token == JsonToken.FIELD_NAME) key = Some(parser.currentName)
      else {
        found = key.exists(fits(_, Some(token).filter(_ == JsonToken.VALUE_STRING).map(_ => parser.getText)))
        key = None
      }
      token = parser.nextToken()
    }
    found
  }

  /** All values that are neither objects nor lists, each once; None: the text is not JSON. */
  def values(text: String): Option[Seq[String]] = reading(text) { parser =>
    val found = mutable.LinkedHashSet.empty[String]
    var token = parser.nextToken()
    while (token != null) {
      if (token.isScalarValue) found += parser.getText
      token = parser.nextToken()
    }
    found.toSeq
  }

  private def reading[T](text: String)(read: JsonParser => T): Option[T] = {
    val parser = json.createParser(text)
    try Some(read(parser))
    catch { case _: IOException => None }
    finally parser.close()
  }
}
