package io.sparkconfig.driver

import java.util.concurrent.ConcurrentHashMap

import io.sparkconfig.agent.{ChangeCounter, Proof}
import io.sparkconfig.core.Expression

/**
 * Expressions whose values are proven to be the newest, as long as their proofs hold. Who asked for them in which scope
 * is known to the side process; another scope asks it once.
 */
private[driver] final class ProvenUses {
  import ProvenUses._

  private val byId = new ConcurrentHashMap[String, Proven]()

  /** Whether all of them hold for this scope. */
  def hold(expressions: Seq[Expression], scope: Option[String], changes: ChangeCounter): Boolean = {
    val each = expressions.iterator
    while (each.hasNext) {
      val proven = byId.get(each.next().id)
      if (proven == null || !proven.scopes.contains(scope) || !proven.proof.holds(changes)) return false
      if (!proven.touched) proven.touched = true
    }
    true
  }

  /** What an answer proves, once its snapshot is held. */
  def add(proofs: Map[String, Proof], scope: Option[String]): Unit = if (!scope.exists(Outside)) {
    if (byId.size > Most) byId.clear()
    proofs.foreach { case (id, proof) =>
      val before = byId.get(id)
      byId.put(id, new Proven(proof, if (before == null) Set(scope) else before.scopes + scope))
    }
  }

  /** The ids of what was used since the last call without asking: the side process forgets what nobody uses. */
  def takeTouched(): Seq[String] = {
    val found = Seq.newBuilder[String]
    byId.forEach { (id, proven) => if (proven.touched) { proven.touched = false; found += id } }
    found.result()
  }
}

private[driver] object ProvenUses {

  /** Scopes of code outside of this process. */
  val Outside: Set[String] = Set("executor", "worker")

  /** More than the side process keeps; the rest are texts that nobody uses any more. */
  private val Most = 5000

  private final class Proven(val proof: Proof, val scopes: Set[Option[String]]) {
    @volatile var touched = false
  }
}
