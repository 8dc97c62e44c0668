"""What to say about a reference without a value: where it stands, what is wrong, what to do."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence

from sparkconfig._base.text import shorten
from sparkconfig.errors import AccessDeniedError, ProviderUnavailableError, SparkConfigError
from sparkconfig.formats.errors import FormatError
from sparkconfig.language.kafka import PROVIDERS
from sparkconfig.language.references import Reference
from sparkconfig.resolution.result import Place

__all__ = ["inert", "is_object", "limited", "missing_colon", "problem", "written"]

_MOST, _FIELDS = 200, 8


def written(reference: Reference) -> str:
    """The reference as text, rebuilt from its parts and shortened."""
    path = f"{shorten(reference.path)}:" if reference.path else ""
    return f"${{{shorten(reference.provider, 40)}:{path}{shorten(reference.key)}}}"


def problem(
    name: str | None,
    reference: Reference,
    known: Collection[str],
    errors: Mapping[Place, SparkConfigError],
    *,
    kafka: Collection[str] = (),
    fields: Sequence[str] = (),
) -> str:
    """Describe why ``reference``, found in the value of ``name``, has no value.

    Args:
        name: the key, or None.
        reference: what is there.
        known: the providers that are declared.
        errors: what the providers answered instead.
        kafka: the names that the same map lists as Kafka's own providers.
        fields: if the key names an object, its fields by dotted name.
    """
    where = f"{shorten(str(name))}: " if name is not None else ""
    provider = reference.provider
    if provider not in known:
        return where + (_classless(provider) if provider in kafka else _unknown(provider, known))
    colon = missing_colon(reference)
    error = errors.get((provider, reference.path))
    if error is not None:
        return f"{where}{written(reference)}: {shorten(str(error), 500)}{colon or _hint(error)}"
    if fields:
        return f"{where}{written(reference)}: {is_object(reference, fields)}"
    path = f" at path '{shorten(reference.path)}'" if reference.path else ""
    return (
        f"{where}{written(reference)}: provider '{shorten(provider, 40)}' has no key"
        f" '{shorten(reference.key)}'{path}{colon or '; check the spelling, or add the key to the store'}"
    )


def is_object(reference: Reference, fields: Sequence[str]) -> str:
    """What to say of a key that names an object: the names of its fields."""
    names = sorted(fields)
    shown = ", ".join(map(shorten, names[:_FIELDS])) + (", ..." if len(names) > _FIELDS else "")
    first = written(reference._replace(key=names[0]))
    return f"this is an object and no text; name one of its fields, as in {first}: {shown}"


def inert(name: str | None, reference: Reference) -> str:
    """Describe a reference to a known provider that stands where it is text."""
    where = f"{shorten(str(name))}: " if name is not None else ""
    return (
        f"{where}{written(reference)} is inside $[...] that is malformed or of an unknown type, where it is"
        " not resolved; correct the substitution, or move the reference out of it"
    )


def limited(problems: list[str]) -> list[str]:
    """At most 200 problems, then their number: a hostile value may hold 100,000 references."""
    if len(problems) <= _MOST:
        return problems
    return [*problems[:_MOST], f"... and {len(problems) - _MOST} more"]


def _classless(provider: str) -> str:
    option = f"{PROVIDERS}.{shorten(provider, 40)}.class"
    return (
        f"{PROVIDERS} lists '{shorten(provider, 40)}' without the option {option}; a Kafka client would leave that"
        " provider out without a word and send the reference itself. Name its class"
    )


def _unknown(provider: str, known: Collection[str]) -> str:
    # The text may be a literal password that happens to look like a reference: show the name and nothing
    # else, and that only if it can be a name.
    plain = len(provider) <= 40 and all(c.isalnum() or c in "_-. " for c in provider)
    shown = f"'{provider}'" if plain and provider else "(not shown)"
    near = difflib.get_close_matches(provider, list(known), n=1) if plain else []
    guess = f" (did you mean '{near[0]}'?)" if near else ""
    declared = ", ".join(sorted(known)) or "none"
    return (
        f"a reference names the unknown provider {shown}{guess}; declared: {declared}. Declare it in"
        " spark.config.providers, or list it in spark.config.foreign.providers if something else expands it"
    )


def missing_colon(reference: Reference) -> str:
    """What to say if another sign stands where the colon before the key should be, or the key is missing."""
    if reference.path == "arn":
        arn = written(reference._replace(path="", key=f"arn:{reference.key}"))
        return (
            f"; the colons of an ARN end the path: write the name in its place, or {arn} for the whole value"
        )
    path, slash, key = reference.key.rpartition("/")
    before, hash_sign, behind = reference.key.partition("#")
    if hash_sign and before and behind and not reference.path:  # as Spring and some operators write it
        meant = written(reference._replace(path=before, key=behind))
        return f"; a colon stands between path and key, not '#': write {meant}"
    if not reference.path and reference.key.startswith("/"):
        return f"; the key is missing: write {written(reference._replace(path=reference.key, key='KEY'))}"
    if reference.path or not (path and slash and key):
        return ""
    meant = written(reference._replace(path=path, key=key))
    longer = written(reference._replace(path=reference.key, key="KEY"))
    return f"; a colon is missing between path and key: write {meant}, or {longer} if the key is missing"


def _hint(error: SparkConfigError) -> str:
    if isinstance(error, FormatError):
        return "; correct the content, or the provider's param that names its format"
    if isinstance(error, AccessDeniedError):
        return "; ask for access, or allow it in the provider's params"
    if isinstance(error, ProviderUnavailableError):
        return "; check that the store is up and can be reached from this host"
    return ""
