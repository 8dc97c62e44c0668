package io.sparkconfig.policy.doors

/** Values that code asks for by name: [[io.sparkconfig.policy.PolicyClient.use]], before any value is returned. */
private[doors] object UseDoor extends Door {
  override def name: String = "use of references"

  override def asks: Seq[Asked] = Seq(
    Asked(
      "`current()`, `configs()`, Python workers, connections: which references",
      "before the value is returned",
      "not reachable; workers: off",
      "before the value is returned"))
}
