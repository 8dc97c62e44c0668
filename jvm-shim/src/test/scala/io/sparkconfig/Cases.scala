package io.sparkconfig

import java.nio.file.{Files, Paths}

import com.fasterxml.jackson.databind.JsonNode
import io.sparkconfig.core.Json

/** The cases that Python's tests pass too. */
object Cases {
  def read(name: String): JsonNode = {
    val path = Paths.get(System.getProperty("sparkconfig.root"), "tests", "conformance", name)
    Json.parse(new String(Files.readAllBytes(path), "UTF-8"))
  }
}
