package io.sparkconfig.policy.doors

import io.sparkconfig.policy.PolicyDoors
import org.apache.spark.sql.SparkSessionExtensions

/** The doors of a session on Spark 4.0 and later; without policies SQL's reflection alone has one. */
private[sparkconfig] object PolicyRules {
  def inject(extensions: SparkSessionExtensions): Unit = {
    extensions.injectHintResolutionRule(new EarlyReflectionRule(_))
    extensions.injectPostHocResolutionRule(_ => ReflectionRule)
    if (PolicyDoors.running.isDefined) injectDoors(extensions)
  }

  private def injectDoors(extensions: SparkSessionExtensions): Unit = {
    extensions.injectHintResolutionRule(new SessionRule(_))
    extensions.injectHintResolutionRule(_ => ReadRule)
    extensions.injectPostHocResolutionRule(new OptionsRule(_))
    extensions.injectPostHocResolutionRule(new TableRule(_))
    extensions.injectParser(SessionHook)
    extensions.injectPlannerStrategy(new SessionStrategy(_))
  }
}
