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

  /**
   * As this reader sees it.
   * @return the same instance if no value occurs in it, its causes and its suppressed ones; else a copy
   */
  def redact(thrown: Throwable, reader: Reader = Reader.Anybody): Throwable =
    if (thrown == null || Redactor.isEmpty || thrown.isInstanceOf[RedactedThrowable]) thrown
    else
      try
        if (dirty(thrown, new IdentityHashMap(), reader)) copy(thrown, new IdentityHashMap(), reader) else thrown
      catch {
        case fault: Throwable =>
          Redactor.failed(fault)
          new RedactedThrowable(thrown.getClass.getName, s"${thrown.getClass.getName}: ${Redactor.Withheld}")
      }

  private def dirty(t: Throwable, seen: IdentityHashMap[Throwable, Throwable], reader: Reader): Boolean =
    t != null && seen.put(t, t) == null &&
      (seen.size > Limit ||
        Seq(String.valueOf(t), t.getMessage, t.getLocalizedMessage).exists(Redactor.contains(_, reader)) ||
        dirty(t.getCause, seen, reader) || t.getSuppressed.exists(dirty(_, seen, reader)))

  private def copy(t: Throwable, seen: IdentityHashMap[Throwable, Throwable], reader: Reader): Throwable =
    if (t == null || seen.size > Limit) null
    else if (seen.containsKey(t)) seen.get(t)
    else {
      val text = Redactor.redact(String.valueOf(t), reader)
      val shown = if (text.startsWith(t.getClass.getName)) text else s"${t.getClass.getName}: $text"
      val safe = new RedactedThrowable(t.getClass.getName, shown)
      seen.put(t, safe)
      safe.setStackTrace(t.getStackTrace)
      val cause = copy(t.getCause, seen, reader)
      if (cause != null && (cause ne safe)) safe.initCause(cause)
      t.getSuppressed.foreach { s =>
        val other = copy(s, seen, reader)
        if (other != null && (other ne safe)) safe.addSuppressed(other)
      }
      safe
    }
}
