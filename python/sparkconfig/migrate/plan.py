"""What a migration would do: which secrets it moves, under which names, and which it leaves and why."""

from __future__ import annotations

import codecs
import errno
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sparkconfig._base.text import shorten
from sparkconfig.checks.exit_codes import FileError
from sparkconfig.detection import literals
from sparkconfig.detection.shapes import Span, shapes, union
from sparkconfig.errors import ConfigurationError
from sparkconfig.formats import reading
from sparkconfig.migrate import sources
from sparkconfig.migrate.text import Document, Edit, Scope, Text, rewritten
from sparkconfig.sealed import files
from sparkconfig.sealed.names import EntryName
from sparkconfig.settings import conf_warnings
from sparkconfig.settings.conf_places import ConfPlaces
from sparkconfig.settings.expressions import REPLACED, VARIABLE
from sparkconfig.settings.placeholders import has_template
from sparkconfig.settings.schema import PREFIX

__all__ = ["FilePlan", "Left", "Move", "Names", "expand", "files_in", "plan_file", "read_text"]

LARGEST = 1 << 20
"""Bytes of a file: what one entry of the sealed backup may hold."""
_BEGINNING = 4000
_OWN = "sparkconfig's own settings hold no references: name a key file or an identity of the machine instead"
_UNSAYABLE = "it is written across quotes, lines or variables; write it in one piece first"
_TEMPLATED = "a template fills in a part of it; write {reference} in the place of that part"
_ENTANGLED = "the text around it holds '${' or '}', and a reference would be read differently there"
_NOT_A_TEXT = "a comment, or text that no program reads as a conf or an option: remove it"
_NOT_SPARKS = (
    f"{conf_warnings.NOT_SPARKS}, and another program would use the reference as text; for Spark write"
    " {name} {reference}"
)
_ROLE = re.compile(
    r"(?:(?:access|secret|account|private|encryption|api|client|sas|session)[._-]?)?"
    r"(?:key|secret|password|passwd|passphrase|pwd|pass|token|credentials?|signature)",
    re.IGNORECASE,
)
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, repr=False)
class Move:
    """A secret that a reference replaces.

    Attributes:
        line: where it stands.
        key: the conf or option.
        shape: why it counts as a secret.
        name: where it goes.
        value: itself; never shown.
        edit: the change of the file.
    """

    line: int
    key: str
    shape: str
    name: EntryName
    value: str
    edit: Edit


@dataclass(frozen=True)
class Left:
    """A secret that stays where it is.

    Attributes:
        line: where it stands.
        key: the conf, option or variable; may be empty.
        shape: why it counts as a secret.
        why: why it stays, and what to do.
    """

    line: int
    key: str
    shape: str
    why: str


@dataclass(repr=False)
class FilePlan:
    """What happens to one file.

    Attributes:
        path: the file.
        kind: one of ``sources.KINDS``.
        document: as it is now.
        moves: secrets that move.
        left: secrets that stay.
        settings: confs that are added, so that the references have a provider.
        declaring: the applications to which they are added.
        reported: the values of ``left``, by their lines.
        unfilled: lines and keys of secrets that something else fills in.
    """

    path: Path
    kind: str
    document: Document
    moves: list[Move] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    declaring: list[Scope] = field(default_factory=list)
    reported: dict[int, list[str]] = field(default_factory=dict)
    unfilled: list[tuple[int, str]] = field(default_factory=list)

    def rewritten(self) -> str:
        """Return the new content."""
        edits = [move.edit for move in self.moves]
        added = [scope.add(self.settings) for scope in self.declaring if scope.add is not None]
        return rewritten(self.document.content, [*edits, *dict.fromkeys(added)])


class Names:
    """Gives each value one name: equal values of keys with the same role share theirs, and no name has two values.

    Args:
        section: of new names.
        sealed: what the sealed file holds already.
    """

    def __init__(self, section: str, sealed: Mapping[EntryName, str]) -> None:
        self._section = section
        self._values = dict(sealed)
        self._names = {(value, _role(name.key)): name for name, value in sealed.items()}
        self._last: Counter[str] = Counter()

    def name(self, key: str, value: str) -> EntryName:
        """Return the name of a value, a new one if there is none yet."""
        base = _UNFIT.sub("-", key).strip("-.")[:200] or "secret"
        role = _role(base)
        if (value, role) in self._names:
            return self._names[value, role]
        name = EntryName(self._section, base)
        while name in self._values:
            self._last[base] += 1
            name = EntryName(self._section, f"{base}-{self._last[base] + 1}")
        self._values[name] = value
        self._names[value, role] = name
        return name


def _role(key: str) -> str:
    """What a key's value is for: an access key and a secret key may be equal now, and are changed one by one."""
    found = _ROLE.findall(key)
    words = re.sub(r"[._-]|\d", "", found[-1]).lower() if found else ""
    return "password" if words in ("pwd", "passwd", "pass") else words


def read_text(path: Path) -> str:
    """Read a file as it is, with its line ends.

    Raises:
        FileError: it cannot be read.
        ConfigurationError: it is too long, or no UTF-8 text.
    """
    files.sweep(path)  # of an undo that was killed: the secrets in clear
    try:
        return reading.read(path, LARGEST).decode("utf-8")
    except UnicodeDecodeError:
        problem = f"{path} is not UTF-8 text"
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise FileError(path, error) from None
        problem = (
            f"{path} is longer than {LARGEST >> 20} MiB, the most that migrate reads; name the other files, and move"
            " the secrets of this one with 'sparkconfig seal set'"
        )
    raise ConfigurationError(problem)


def files_in(paths: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """Return the named files and those in the named folders that are text, each once; and the others."""
    found: dict[Path, None] = {}
    unknown: list[Path] = []
    for path in paths:
        for each in _visible(path) if path.is_dir() else ():
            kind = sources.kind_of(each, _beginning(each))
            if kind is not None and (kind != "text" or each.stat().st_size <= LARGEST):
                found[each] = None
            else:
                unknown.append(each)
        if not path.is_dir():
            found[path] = None
    # One file may have several names: a link, or a path from another folder.
    return list({path.resolve(): path for path in reversed(found)}.values())[::-1], unknown


def _visible(folder: Path) -> Iterator[Path]:
    for each in sorted(folder.rglob("*")):
        # Folders such as .git and .venv; a file such as .env belongs to the job.
        hidden = any(part.startswith(".") for part in each.relative_to(folder).parts[:-1])
        if not hidden and each.is_file() and not each.is_symlink():
            yield each


def _beginning(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return codecs.getincrementaldecoder("utf-8")("replace").decode(stream.read(_BEGINNING))
    except OSError:
        return ""


def plan_file(path: Path, names: Names, *, provider: str, kind: str | None = None) -> FilePlan:
    """Look at one file.

    Args:
        path: the file.
        names: names the values.
        provider: the name of the provider in the references.
        kind: what the file is; None: what its name or first line says.

    Raises:
        FileError: it cannot be read.
        ConfigurationError: it is malformed, or of no known kind; names the file, and nothing of its content.
    """
    content = read_text(path)
    kind = kind or sources.kind_of(path, content)
    if kind is None:
        raise ConfigurationError(f"{path}: not known what this is; say --kind {'|'.join(sources.KINDS)}")
    try:
        document = sources.read(kind, content)
    except ConfigurationError as error:
        problem = f"{path}: {error}"
    else:
        plan = FilePlan(path, kind, document)
        confs = {text.key: text.value for text in document.texts if text.conf}
        places = ConfPlaces(master=confs.get("spark.master", "").strip())
        for text in document.texts:
            _look_at(plan, text, places, names, provider)
        _look_between(plan)
        return plan
    raise ConfigurationError(problem)


def _look_at(plan: FilePlan, text: Text, places: ConfPlaces, names: Names, provider: str) -> None:
    spans = (
        literals.find(text.key, text.value) if text.key else shapes(text.value, prose=text.kept is not None)
    )
    why = _why(text, places) or (_TEMPLATED if has_template(text.value) else None)
    moves: list[Move] = []
    left: list[Left] = []
    document, after = plan.document, text.start

    def advice(span: Span, value: str, why: str) -> str:
        if "{reference}" not in why:
            return why
        name = names.name(_name_for(text.key, span), value)
        return why.replace("{reference}", f"${{{provider}:{name}}}").replace("{key}", _shown(text.key))

    for span in spans:
        value = text.value[span.start : span.end]
        after = max(_place(document.content, text, span, after), after)
        line = document.line(after)
        edit = None
        if why is None:
            name = names.name(_name_for(text.key, span), value)
            edit = text.put(span.start, span.end, f"${{{provider}:{name}}}")
        if edit is None:
            known = plan.reported.setdefault(line, [])
            # One literal may go by several names, or be found in two ways.
            if not any(value in each or each in value for each in known):
                left.append(Left(line, _shown(text.key), span.shape, advice(span, value, why or _UNSAYABLE)))
            known.append(value)
        else:
            moves.append(Move(line, _shown(text.key), span.shape, name, value, edit))
    if not spans and text.conf and conf_warnings.not_filled_in(text.key, text.value):
        plan.unfilled.append((document.line(text.start), _shown(text.key)))
    if moves and not _stays_same(text.value, spans, moves, provider):
        left += [Left(move.line, move.key, move.shape, _ENTANGLED) for move in moves]
        moves = []
    plan.moves += moves
    plan.left += left


def _place(content: str, text: Text, span: Span, after: int) -> int:
    """Where a file holds a part of a text, found with what is before it on its line: it may be elsewhere, too."""
    before = text.value[max(0, span.start - 20) : span.start].rpartition("\n")[2]
    value = text.value[span.start : span.end]
    found = content.find(before + value, after, text.end)
    return content.find(value, after, text.end) if found < 0 else found + len(before)


def _shown(key: str) -> str:
    """A key for people: what a program puts into it stands as ``{...}``."""
    return shorten(re.sub(f"[{REPLACED}{VARIABLE}]+", "{...}", key))


def _why(text: Text, places: ConfPlaces) -> str | None:
    """Why a text stays as it is, and what to do; None: a reference can stand there."""
    if text.kept is not None or not text.conf:
        return text.kept
    if text.key.startswith(PREFIX):
        return _OWN
    if text.key.startswith("spark."):
        return places.advice(text.key)
    return _NOT_SPARKS.format(name=conf_warnings.for_spark(_shown(text.key)), reference="{reference}")


def _stays_same(value: str, spans: Sequence[Span], moves: Sequence[Move], provider: str) -> bool:
    """Whether the references would be read as such: a ``${`` before them that nothing closes would swallow them."""
    if len(moves) != len(spans):
        return True  # those that stay are told apart; the comparison before writing has the last word
    parts: list[str] = []
    at = 0
    for span, move in zip(spans, moves, strict=True):
        parts += [value[at : span.start], f"${{{provider}:{move.name}}}"]
        at = span.end
    new = "".join([*parts, value[at:]])
    values = {move.name: move.value for move in moves}
    return expand(new, provider, values) == expand(value, provider, values)


def _look_between(plan: FilePlan) -> None:
    """Comments, documents inside scripts, and other text that is no conf or option."""
    # A text without a value is a line of code: what looks like an expression there says nothing.
    covered = union(Span(text.start, text.end, "") for text in plan.document.texts)
    read = union(Span(text.start, text.end, "") for text in plan.document.texts if text.value)
    for span in shapes(plan.document.content):
        if plan.kind in ("python", "code") and "beside" in span.shape:
            continue  # an expression: what texts and comments hold is known
        known = covered if "beside" in span.shape else read
        before = bisect_left(known, span.end, key=lambda each: each.start) - 1
        if before < 0 or known[before].end <= span.start:
            line = plan.document.line(span.start)
            value = plan.document.content[span.start : span.end]
            if not any(value in each or each in value for each in plan.reported.get(line, ())):
                plan.left.append(Left(line, "", span.shape, _NOT_A_TEXT))
    plan.left.sort(key=lambda left: left.line)


def _name_for(key: str, span: Span) -> str:
    if span.shape == literals.BY_KEY:
        return key
    return f"{key}.{'password' if 'address' in span.shape or 'beside' in span.shape else 'token'}"


def expand(text: str, provider: str, values: Mapping[EntryName, str]) -> str:
    """Put the values of a sealed file in the places of its references; others stay."""
    from sparkconfig.language import references

    found = references.scan(text)
    known: Sequence[str | None] = [
        values.get(EntryName(each.path, each.key)) if each.provider == provider else None for each in found
    ]
    return references.replace(text, found, known)
