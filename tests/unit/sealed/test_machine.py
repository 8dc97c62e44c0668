"""A sealed file under any sequence of its owner's changes and of somebody else's, beside a plain dict."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule

from sparkconfig.errors import SealedFileError
from sparkconfig.sealed import editor
from sparkconfig.sealed.failures import EntryNotFoundError, TouchedFileError, WrongKeyError
from sparkconfig.sealed.keys import KeyFile
from sparkconfig.sealed.names import EntryName
from sparkconfig.sealed.opened import SealedReader, load
from support.machines import limits

NAMES = st.builds(
    EntryName, st.sampled_from(["shop", "é", "a b"]), st.sampled_from(["password", "user:x", "k"])
)
VALUES = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


class SealedFile(RuleBasedStateMachine):
    """The model is a dict; the file and its keys are real."""

    before = Bundle("before")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        root = Path(self.folder.name)
        self.file, self.key = root / "shop.sealed", KeyFile(root / "k0")
        self.key.create()
        self.keys = 1
        editor.create(self.file, self.key)
        self.reader = SealedReader(self.file, self.key)
        self.values: dict[EntryName, str] = {}

    def teardown(self) -> None:
        self.folder.cleanup()

    @rule(name=NAMES, value=VALUES)
    def put(self, name: EntryName, value: str) -> None:
        assert editor.put(self.file, self.key, {name: value}) == [
            name for name in [name] if name in self.values
        ]
        self.values[name] = value

    @rule(name=NAMES)
    def remove(self, name: EntryName) -> None:
        if name in self.values:
            editor.remove(self.file, self.key, [name])
            del self.values[name]
        else:
            with pytest.raises(EntryNotFoundError):
                editor.remove(self.file, self.key, [name])

    @rule()
    def reseal(self) -> None:
        """With a new key; the old one opens nothing afterwards."""
        old, self.key = self.key, KeyFile(self.key.path.with_name(f"k{self.keys}"))
        self.keys += 1
        self.key.create()
        editor.reseal(self.file, old, self.key)
        with pytest.raises(WrongKeyError):
            load(self.file, old)
        self.reader = SealedReader(self.file, self.key)

    @rule(target=before)
    def copy(self):
        """Somebody keeps a copy of the file."""
        return multiple((self.file.read_bytes(), dict(self.values), self.key.path))

    @rule(copy=before, name=NAMES)
    def put_an_old_entry_back(self, copy: tuple[bytes, dict[EntryName, str], Path], name: EntryName) -> None:
        """An entry of a copy in place of the one of now: refused, unless it is the same."""
        good = self.file.read_bytes()
        content, old = json.loads(good), json.loads(copy[0])
        blob = old["entries"].get(name.section, {}).get(name.key)
        if blob is None or content["entries"].get(name.section, {}).get(name.key) == blob:
            return
        content["entries"].setdefault(name.section, {})[name.key] = blob
        self.file.write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(TouchedFileError):
            load(self.file, self.key)
        self.file.write_bytes(good)

    @rule(copy=before)
    def put_the_old_file_back(self, copy: tuple[bytes, dict[EntryName, str], Path]) -> None:
        """A whole copy is a good file of its key: it opens to what it held, or not at all."""
        good = self.file.read_bytes()
        self.file.write_bytes(copy[0])
        if copy[2] == self.key.path:
            opened = load(self.file, self.key)
            assert {name: opened.value(name) for name in opened.names()} == copy[1]
        else:
            with pytest.raises(WrongKeyError):
                load(self.file, self.key)
        self.file.write_bytes(good)

    @rule(place=st.floats(0, 1, exclude_max=True), bits=st.integers(1, 255))
    def damage(self, place: float, bits: int) -> None:
        """One byte is another: refused, or the very same content."""
        good = self.file.read_bytes()
        at = int(place * len(good))
        self.file.write_bytes(good[:at] + bytes([good[at] ^ bits]) + good[at + 1 :])
        try:
            opened = load(self.file, self.key)
        except SealedFileError:
            pass
        else:
            assert {name: opened.value(name) for name in opened.names()} == self.values
        self.file.write_bytes(good)

    @invariant()
    def holds_what_was_put(self) -> None:
        opened = self.reader.current()
        assert {name: opened.value(name) for name in opened.names()} == self.values
        raw = self.file.read_text(encoding="utf-8")
        assert not [value for value in self.values.values() if len(value) > 8 and value in raw]


TestSealedFile = SealedFile.TestCase
TestSealedFile.settings = limits(20)
