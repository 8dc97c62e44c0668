"""What ``current()`` can be asked for, in the driver and in Python workers."""

from __future__ import annotations

from sparkconfig.errors import UnresolvedReferenceError

__all__ = ["check_reference"]


def check_reference(text: str) -> None:
    """Refuse a text without a reference: it would come back as if it were the secret.

    Raises:
        UnresolvedReferenceError: there is neither ``${`` nor ``$[`` in it. The message names the text only if it is
            a conf's name.
    """
    if "${" in text or "$[" in text:
        return
    name = text.strip()
    if name.startswith("spark.") and name.replace(".", "").replace("-", "").replace("_", "").isalnum():
        problem = (
            f"'{name}' is the name of a conf, and current() takes a text with a reference:"
            f' current(spark.conf.get("{name}")), or the reference itself'
        )
    else:
        problem = (
            "the text given to current() holds no reference; write one, such as ${vault:db/prod:password}"
        )
    raise UnresolvedReferenceError([problem])
