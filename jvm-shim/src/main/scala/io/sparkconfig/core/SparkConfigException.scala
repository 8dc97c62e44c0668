package io.sparkconfig.core

/**
 * An error of sparkconfig. Its message names keys, providers and what to do, never a value; it has no cause, since
 * a cause's text could hold one.
 */
class SparkConfigException(message: String, stackTrace: Boolean = true)
  extends RuntimeException(message, null, true, stackTrace)

/**
 * The application does not start. Its reader needs the message, which says what to do; where in this jar it was thrown
 * is of no use to him, and Spark would print a hundred lines around two.
 */
class StartFailedException(message: String) extends SparkConfigException(message, stackTrace = false)

/** The operator's policy does not let this job use a reference. */
class PolicyRefusedException(message: String) extends SparkConfigException(message)

/** The side process cannot be reached at the moment: the last snapshot serves while it is started again. */
class AgentUnavailableException(message: String) extends SparkConfigException(message)
