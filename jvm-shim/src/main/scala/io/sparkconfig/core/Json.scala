package io.sparkconfig.core

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/** The wire format between the shim and the side process: JSON text, both ways. */
private[sparkconfig] object Json {
  private val mapper = new ObjectMapper()

  def obj(): ObjectNode = mapper.createObjectNode()

  def array(): ArrayNode = mapper.createArrayNode()

  def parse(text: String): JsonNode = mapper.readTree(text)

  def write(node: JsonNode): String = mapper.writeValueAsString(node)

  def bytes(node: JsonNode): Array[Byte] = mapper.writeValueAsBytes(node)

  def parse(bytes: Array[Byte]): JsonNode = mapper.readTree(bytes)

  def putMap(into: ObjectNode, name: String, values: Iterable[(String, String)]): ObjectNode = {
    val child = into.putObject(name)
    values.foreach { case (key, value) => child.put(key, value) }
    into
  }

  def fields(node: JsonNode): Iterator[(String, JsonNode)] =
    if (node == null) Iterator.empty
    else node.fieldNames().asScala.map(name => name -> node.get(name))

  def texts(node: JsonNode): Seq[String] =
    if (node == null) Nil else node.elements().asScala.map(_.asText).toList
}
