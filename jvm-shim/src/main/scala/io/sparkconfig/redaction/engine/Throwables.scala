package io.sparkconfig.redaction.engine

import java.util.IdentityHashMap

/** Stands in for a throwable whose text holds a value; names the original's class, keeps its stack. */
final class RedactedThrowable private[redaction] (val originalClass: String, text: String) extends Exception(text) {
  override def fillInStackTrace(): Throwable = this
  override def toString: String = getMessage
}

private[redaction] object Throwables {

  /** Chains longer than this are cut. */
  val Limit = 200

  /** [[redact]] for an answer to a client: as [[Redactor.redactAnswer]]. */
  def redactAnswer(thrown: Throwable, client: Client = Client.Unknown): Throwable =
    redact(thrown, Redactor.contains(_, client), Redactor.redactAnswer(_, client))

  /** @return the same instance if no value occurs in it, its causes and its suppressed ones; else a copy */
  def redact(thrown: Throwable): Throwable = redact(thrown, Redactor.contains(_), Redactor.redact)

  private def redact(thrown: Throwable, holds: String => Boolean, mask: String => String): Throwable =
    if (thrown == null || Redactor.isEmpty || thrown.isInstanceOf[RedactedThrowable]) thrown
    else
      try
        if (dirty(thrown, new IdentityHashMap(), holds)) copy(thrown, new IdentityHashMap(), mask) else thrown
      catch {
        case fault: Throwable =>
          Redactor.failed(fault)
          new RedactedThrowable(thrown.getClass.getName, s"${thrown.getClass.getName}: ${Redactor.Withheld}")
      }

  private def dirty(t: Throwable, seen: IdentityHashMap[Throwable, Throwable], holds: String => Boolean): Boolean =
    t != null && seen.put(t, t) == null &&
      (seen.size > Limit || holds(String.valueOf(t)) || holds(t.getMessage) || holds(t.getLocalizedMessage) ||
        dirty(t.getCause, seen, holds) || t.getSuppressed.exists(dirty(_, seen, holds)))

  private def copy(t: Throwable, seen: IdentityHashMap[Throwable, Throwable], mask: String => String): Throwable =
    if (t == null || seen.size > Limit) null
    else if (seen.containsKey(t)) seen.get(t)
    else {
      val text = mask(String.valueOf(t))
      val shown = if (text.startsWith(t.getClass.getName)) text else s"${t.getClass.getName}: $text"
      val safe = new RedactedThrowable(t.getClass.getName, shown)
      seen.put(t, safe)
      safe.setStackTrace(t.getStackTrace)
      val cause = copy(t.getCause, seen, mask)
      if (cause != null && (cause ne safe)) safe.initCause(cause)
      t.getSuppressed.foreach { s =>
        val other = copy(s, seen, mask)
        if (other != null && (other ne safe)) safe.addSuppressed(other)
      }
      safe
    }
}
