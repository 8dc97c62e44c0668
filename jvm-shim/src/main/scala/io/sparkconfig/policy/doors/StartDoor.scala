package io.sparkconfig.policy.doors

/** The confs of the start: the side process gets them all with its first call, and evaluates them by itself. */
private[doors] object StartDoor extends Door {
  override def name: String = "confs of the start"

  override def asks: Seq[Asked] = Seq(
    Asked(
      "`--conf`, `--properties-file`, builder, system properties",
      "at the start",
      "at the server's start",
      "at the start"))
}
