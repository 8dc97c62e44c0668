"""What to say about a reference without a value: where it stands, what is wrong, what to do."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from sparkconfig._base.late import late
from sparkconfig._base.text import nearest, shorten
from sparkconfig.errors import AccessDeniedError, ProviderUnavailableError, SparkConfigError
from sparkconfig.formats.errors import FormatError
from sparkconfig.language.kafka import PROVIDERS
from sparkconfig.language.references import Reference
from sparkconfig.resolution.result import Place

__all__ = ["inert", "limited", "missing_colon", "problem", "written"]

_MOST, _FIELDS = 200, 8


def written(reference: Reference) -> str:
    """The reference as text, rebuilt from its parts and shortened."""
    colon = ":" if ":" in reference.key or _is_doubled(reference) else ""
    path = f"{shorten(reference.path)}:" if reference.path else colon
    return f"${{{shorten(reference.provider, 40)}:{path}{shorten(reference.key)}}}"


def _is_doubled(reference: Reference) -> bool:
    """Whether the path is empty and written, as in ``${p::k}``: a key that has colons needs that."""
    length = len(reference.provider) + len(reference.key) + len("${::}")
    return not reference.path and reference.end - reference.start == length


def _as(reference: Reference, path: str, key: str) -> str:
    """What to write instead."""
    doubled = len(reference.provider) + len(key) + len("${::}") if _is_doubled(reference) else 0
    return written(reference._replace(path=path, key=key, start=0, end=doubled))


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
        return f"{where}{written(reference)}: {_is_object(reference, fields)}"
    path = f" at path '{shorten(reference.path)}'" if reference.path else ""
    return (
        f"{where}{written(reference)}: provider '{shorten(provider, 40)}' has no key"
        f" '{shorten(reference.key)}'{path}{colon or '; check the spelling, or add the key to the store'}"
    )


def _is_object(reference: Reference, fields: Sequence[str]) -> str:
    """What to say of a key that names an object: the names of its fields."""
    names = sorted(fields)
    shown = ", ".join(map(shorten, names[:_FIELDS])) + (", ..." if len(names) > _FIELDS else "")
    first = _as(reference, reference.path, names[0])
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
    near = nearest(provider, known) if plain else ""
    guess = f" (did you mean '{near}'?)" if near else ""
    declared = ", ".join(sorted(known)) or "none"
    return (
        f"a reference names the unknown provider {shown}{guess}; declared: {declared}. Declare it in"
        " spark.config.providers, or list it in spark.config.foreign.providers if something else expands it"
    )


_ARN = late(
    r"(?P<whole>arn:[\w-]*:(?P<service>[\w-]*):[^:]*:[^:]*:(?:secret:|parameter)?(?P<name>[^:#]*))"
    r"(?:[:#](?P<field>[^:#]*))?.*"
)
_FILE = late(r"\.(?:properties|json|ya?ml|toml|env|conf|txt|jks|jceks|p12|pem)$")


def missing_colon(reference: Reference) -> str:
    """What to say of a reference in another form: an ARN, other signs before the key, or no key."""
    path, key = reference.path, reference.key
    if path == "arn" or (not path and key.startswith("arn:")):
        return _arn(reference)
    said = ""
    before, _, behind = key.partition("#")
    if (path, key) != (path.strip(), key.strip()):
        said = f"blanks are a part of a path or key: write {_as(reference, path.strip(), key.strip())}"
    elif path and not key:
        said = f"the key is missing: write {_as(reference, path, 'KEY')}"
    elif not path and before and behind:  # as Spring and some operators write it
        said = f"a colon stands between path and key, not '#': write {_as(reference, before, behind)}"
    elif not path and "/" in key:
        said = _without_colon(reference)
    return said and f"; {said}"


def _without_colon(reference: Reference) -> str:
    plain = reference.key.rstrip("/")
    path, _, name = plain.rpartition("/")
    longer = _as(reference, plain, "KEY")
    if plain != reference.key or not path or _FILE.search(name):
        return f"the key is missing: write {longer}" if plain else ""
    shorter = _as(reference, path, name)
    return f"a colon is missing between path and key: write {shorter}, or {longer} if the key is missing"


def _arn(reference: Reference) -> str:
    arn = reference.key if not reference.path else f"arn:{reference.key}"
    found = _ARN.fullmatch(arn)
    if found is None or not found["name"]:
        return "; the colons of an ARN end the path: write the name in its place"
    if not reference.path and found["field"] is None:
        return ""
    if found["service"] == "ssm":
        path, _, name = found["name"].rpartition("/")
        return f"; the colons of an ARN end the path: write {_as(reference, path, name)}"
    named = _as(reference, re.sub(r"-[A-Za-z0-9]{6}$", "", found["name"]), found["field"] or "KEY")
    whole = _as(reference, "", found["whole"])
    return f"; the colons of an ARN end the path: write {named}, or {whole} for the whole value"


def _hint(error: SparkConfigError) -> str:
    if isinstance(error, FormatError):
        return "; correct the content, or the provider's param that names its format"
    if isinstance(error, AccessDeniedError):
        return "; ask for access, or allow it in the provider's params"
    if isinstance(error, ProviderUnavailableError):
        return "; check that the store is up and can be reached from this host"
    return ""
