"""What ``current()`` and ``configs()`` can be asked for, in the driver and in Python workers."""

from __future__ import annotations

from collections.abc import Mapping

from sparkconfig.errors import ConfigurationError, UnresolvedReferenceError

__all__ = ["NO_VALUE", "check_reference", "check_texts"]

_WRITE = "write one, such as ${vault:db/prod:password}"
NO_VALUE = f"no provider answers any part of the text given to current(); {_WRITE}"
_HALF = (
    "a '${' in the text given to current() begins no reference, which has a colon and a closing brace:"
    f" {_WRITE}, or ${{envvar:NAME}} for a variable of the environment"
)


def check_reference(text: object) -> None:
    """Refuse what is no text with references: it would come back as if it were the secret.

    Raises:
        ConfigurationError: it is no text.
        UnresolvedReferenceError: there is neither ``${`` nor ``$[`` in it, or a ``${`` that begins no reference. The
            message names the text only if it is a conf's name.
    """
    if not isinstance(text, str):
        raise ConfigurationError(f"current() takes a text with a reference, not {type(text).__name__}")
    if "${" in text or "$[" in text:
        if _begins_none(text):
            raise UnresolvedReferenceError([_HALF])
        return
    name = text.strip()
    if name.startswith("spark.") and name.replace(".", "").replace("-", "").replace("_", "").isalnum():
        problem = (
            f"'{name}' is the name of a conf, and current() takes a text with a reference:"
            f' current(spark.conf.get("{name}")), or the reference itself'
        )
    else:
        problem = f"the text given to current() holds no reference; {_WRITE}"
    raise UnresolvedReferenceError([problem])


def check_texts(given: object) -> None:
    """Refuse what is no map of texts.

    Raises:
        ConfigurationError: it is none. The message names keys and types.
    """
    takes = "configs() takes a map of texts"
    if not isinstance(given, Mapping):
        raise ConfigurationError(f"{takes}, not {type(given).__name__}")
    for key, text in given.items():
        if not isinstance(key, str):
            raise ConfigurationError(f"{takes}; one of the keys is {type(key).__name__}")
        if not isinstance(text, str):
            raise ConfigurationError(f"{takes}; what it has for '{key}' is {type(text).__name__}")


def _begins_none(text: str) -> bool:
    """Whether a ``${`` has no colon or no closing brace. Inside of ``$[...]`` it may be anything."""
    start = -1 if "$[" in text else text.find("${")
    while start >= 0:
        end = text.find("}", start)
        if end < 0 or ":" not in text[start:end]:
            return True
        start = text.find("${", end)
    return False
