package io.sparkconfig.policy.doors

import io.sparkconfig.policy.PolicyDoors
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.sparkconfig.ParserHook

/** The doors of a session on Spark 3.5; without policies SQL's reflection alone has one. */
private[sparkconfig] object PolicyRules {
  def inject(extensions: SparkSessionExtensions): Unit = {
    // 3.5 has no rule before resolution.
    extensions.injectParser((session, parser) => ParserHook.parsed(parser, new EarlyReflectionRule(session)(_)))
    extensions.injectPostHocResolutionRule(_ => ReflectionRule)
    if (PolicyDoors.running.isDefined) injectDoors(extensions)
  }

  private def injectDoors(extensions: SparkSessionExtensions): Unit = {
    extensions.injectResolutionRule(new SessionRule(_))
    extensions.injectPostHocResolutionRule(new OptionsRule(_))
    extensions.injectPostHocResolutionRule(new TableRule(_))
    extensions.injectParser(SessionHook)
    extensions.injectPlannerStrategy(new SessionStrategy(_))
  }
}
