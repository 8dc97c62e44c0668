package io.sparkconfig.policy.doors

import io.sparkconfig.policy.PolicyDoors
import org.apache.spark.sql.SparkSessionExtensions

/** The doors of a session on Spark 3.5; none without policies. */
private[sparkconfig] object PolicyRules {
  def inject(extensions: SparkSessionExtensions): Unit = if (PolicyDoors.running.isDefined) {
    extensions.injectResolutionRule(new SessionRule(_))
    extensions.injectPostHocResolutionRule(new OptionsRule(_))
    extensions.injectPostHocResolutionRule(new TableRule(_))
    extensions.injectParser(SessionHook)
    extensions.injectPlannerStrategy(new SessionStrategy(_))
  }
}
