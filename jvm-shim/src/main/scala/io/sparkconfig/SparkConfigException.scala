package io.sparkconfig

/**
 * An error of sparkconfig. Its message names keys, providers and what to do, never a value; it has no cause, since
 * a cause's text could hold one.
 */
class SparkConfigException(message: String) extends RuntimeException(message)

/** The operator's policy does not let this job use a reference. */
class PolicyRefusedException(message: String) extends SparkConfigException(message)

/** The side process cannot be reached at the moment: the last snapshot serves while it is started again. */
class AgentUnavailableException(message: String) extends SparkConfigException(message)
