package io.sparkconfig.core

/** `spark.config.redaction.require` and `spark.config.redaction.keys`, whoever set them. */
final case class RedactionSettings(require: Boolean, keys: String)
