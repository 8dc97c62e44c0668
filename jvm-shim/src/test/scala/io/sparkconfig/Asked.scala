package io.sparkconfig

import io.sparkconfig.core.{Expression, Snapshot, SparkConfigException, Used, ValueSource}

/** Values that are their texts in brackets, and what the policies were asked about connections. */
final class Asked(allows: Map[String, String] => Boolean = _ => true) extends ValueSource {
  @volatile var connections: Seq[(Seq[String], Map[String, String])] = Nil
  @volatile var uses = 0
  @volatile private var held = Snapshot.Empty

  override def resolve(expression: Expression): String = use(Seq(expression)).values.head

  override def use(expressions: Seq[Expression]): Used = {
    uses += 1
    val values = expressions.map(each => each.id -> s"[${each.text}]").toMap
    held = new Snapshot(1, held.values ++ values, held.secrets ++ values.keySet)
    new Used(expressions, expressions.map(each => values(each.id)), 1)
  }

  override def renew(refused: Used): Used = refused
  override def useForWorker(expressions: Seq[Expression]): Used = use(expressions)
  override def snapshot: Snapshot = held
  override def refresh(): Boolean = false

  override def allowConnection(formats: Seq[String], options: Map[String, String], judged: Seq[String]): Unit = {
    connections :+= (formats -> options)
    if (!allows(options)) throw new SparkConfigException("refused")
  }
}
