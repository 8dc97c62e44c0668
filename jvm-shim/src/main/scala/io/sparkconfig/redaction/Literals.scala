package io.sparkconfig.redaction

import java.util.regex.Pattern.{DOTALL, compile => regex}

import io.sparkconfig.core.Expression

/**
 * Tells clear secrets from references and substitutions. The same cases as Python's `settings/expressions.py`: without
 * a colon `${x}` is text, and may be a part of a password. Possessive and bounded, so that no text takes long.
 */
private[redaction] object Literals {

  /** `${provider:…}`, and `$[type/modifiers/=…]` as KIP-269 has it. */
  private val Reference = regex(
    "\\$\\{[^:}$]{0,2000}+(?:\\$[^:}$]{0,200}+)?:[^}$]{0,2000}+(?:\\$[^}$]{0,200}+){0,8}+\\}|" +
      "\\$\\[{1,5}+[^\\p{Punct}]{1,200}+" +
      "(?:([\\p{Punct}&&[^=\\[\\]]])(?!\\1)\\s*+[^=\\]\\s][^=\\]]{0,100}\\1)?=[^\\]$]{0,2000}+\\]",
    DOTALL)

  /** `${name}` and `$[name]`, also without the brace that closes it. */
  private val Variable =
    regex("\\$\\{[^}$]{0,2000}+\\}|\\$\\[[^\\]$]{0,2000}+\\]|\\$\\{[^\\s\"'&;,}$]*+")

  /** Whether a text holds no reference and no substitution, and is more than the name of a variable. */
  def isLiteral(text: String): Boolean = !Expression.mayHold(text) || !Reference.matcher(text).find() && {
    val rest = Variable.matcher(text).replaceAll("")
    rest.length == text.length || rest.codePoints.anyMatch(c => Character.isLetterOrDigit(c))
  }
}
