package io.sparkconfig.core

/** `spark.config.redaction.require` and `spark.config.redaction.keys`, from the operator or the job. */
final case class RedactionSettings(require: Boolean, keys: String)
