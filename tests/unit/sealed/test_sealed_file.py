"""Round trips, and everything that somebody could do to a file behind the owner's back."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sparkconfig.errors import ConfigurationError, SealedFileError
from sparkconfig.sealed import crypto, editor
from sparkconfig.sealed.document import decode
from sparkconfig.sealed.failures import (
    EntryNotFoundError,
    MalformedFileError,
    TouchedFileError,
    UnknownVersionError,
    WrongKeyError,
)
from sparkconfig.sealed.keys import KeyFile
from sparkconfig.sealed.names import EntryName
from sparkconfig.sealed.opened import load, names_in

PASSWORD = EntryName("shop", "password")
USER = EntryName("shop", "user")


def _nameable(parts: tuple[str, str]) -> bool:
    try:
        EntryName(*parts).check()
    except ConfigurationError:
        return False
    return True


NAMES = st.tuples(st.text(max_size=12), st.text(min_size=1, max_size=12)).filter(_nameable)
VALUES = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


@pytest.fixture
def filled(file: Path, key: KeyFile) -> Path:
    editor.put(file, key, {PASSWORD: "pass-word-0001", USER: "user-name-0001"})
    return file


def rewrite(file: Path, change: Callable[[dict[str, Any]], None]) -> None:
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))


class TestRoundTrip:
    @given(values=st.dictionaries(NAMES, VALUES, min_size=1, max_size=4))
    @settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_through_the_file(self, values: dict[tuple[str, str], str], file: Path, key: KeyFile) -> None:
        named = {EntryName(*parts): value for parts, value in values.items()}
        editor.put(file, key, named)
        opened = load(file, key)
        assert all(opened.value(name) == value for name, value in named.items())

    def test_put_tells_what_was_replaced(self, filled: Path, key: KeyFile) -> None:
        new = EntryName("shop", "token")
        assert editor.put(filled, key, {USER: "other", new: "t"}) == [USER]
        assert load(filled, key).section("shop") == {
            "user": "other",
            "password": "pass-word-0001",
            "token": "t",
        }

    def test_a_section_answers_only_what_was_asked(self, filled: Path, key: KeyFile) -> None:
        assert load(filled, key).section("shop", {"user", "absent"}) == {"user": "user-name-0001"}
        with pytest.raises(EntryNotFoundError):
            load(filled, key).section("absent")

    def test_no_two_sealings_are_alike(self, filled: Path, key: KeyFile) -> None:
        seen: set[bytes] = set()
        for _ in range(20):
            editor.put(filled, key, {PASSWORD: "the same"})
            blob = load(filled, key).document.entries[PASSWORD]
            assert blob[:12] not in seen
            seen.add(blob[:12])

    def test_the_file_shows_names_and_no_values(self, filled: Path) -> None:
        text = filled.read_text()
        assert "password" in text
        for value in ("pass-word-0001", base64.b64encode(b"pass-word-0001").decode()[:12]):
            assert value not in text
        assert names_in(filled)[1] == [PASSWORD, USER]

    def test_remove_is_all_or_nothing(self, filled: Path, key: KeyFile) -> None:
        with pytest.raises(EntryNotFoundError, match="absent"):
            editor.remove(filled, key, [USER, EntryName("shop", "absent")])
        assert load(filled, key).names() == [PASSWORD, USER]
        editor.remove(filled, key, [USER])
        assert load(filled, key).names() == [PASSWORD]

    @pytest.mark.parametrize("name", ["a}b", "shop:", "", "shop:a\nb", " a", "x" * 600])
    def test_names_that_no_reference_can_spell_are_refused(self, name: str) -> None:
        with pytest.raises(ConfigurationError):
            EntryName.parse(name)

    def test_a_name_is_read_like_a_reference(self) -> None:
        assert EntryName.parse("shop:a:b") == EntryName("shop", "a:b")
        assert EntryName.parse("alone") == EntryName("", "alone")

    def test_a_value_that_is_not_text_is_refused_without_being_shown(self, file: Path, key: KeyFile) -> None:
        with pytest.raises(ConfigurationError) as caught:
            editor.put(file, key, {USER: "hidden-part\udc80"})
        assert "hidden-part" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None


class TestTouched:
    def test_every_single_byte_counts(self, filled: Path, key: KeyFile) -> None:
        """Each byte of the file, changed by one bit: an error, or the very same content (base64 has spare bits)."""
        good = filled.read_bytes()
        want = load(filled, key).section("shop")
        kinds = set()
        for index in range(len(good)):
            filled.write_bytes(good[:index] + bytes([good[index] ^ 1]) + good[index + 1 :])
            outcome, message = self._outcome(filled, key)
            assert outcome in (want, MalformedFileError, TouchedFileError, UnknownVersionError), (
                f"byte {index}"
            )
            assert "pass-word" not in message
            kinds.add(outcome if isinstance(outcome, type) else None)
        assert kinds - {None} == {MalformedFileError, TouchedFileError, UnknownVersionError}

    @staticmethod
    def _outcome(file: Path, key: KeyFile) -> tuple[object, str]:
        try:
            return load(file, key).section("shop"), ""
        except SealedFileError as error:
            return type(error), str(error)

    def test_every_cut_is_malformed(self, filled: Path, key: KeyFile) -> None:
        good = filled.read_bytes()
        for length in range(0, len(good) - 2, 7):
            filled.write_bytes(good[:length])
            with pytest.raises(MalformedFileError):
                load(filled, key)

    def test_one_touched_value_is_named(self, filled: Path, key: KeyFile) -> None:
        def copy(content: dict[str, Any]) -> None:
            content["entries"]["shop"]["password"] = content["entries"]["shop"]["user"]

        rewrite(filled, copy)
        with pytest.raises(TouchedFileError, match="'shop:password' was changed"):
            load(filled, key)

    @pytest.mark.parametrize("section", ["shop", "other"])
    def test_renamed_key_or_section(self, filled: Path, key: KeyFile, section: str) -> None:
        def rename(content: dict[str, Any]) -> None:
            blob = content["entries"]["shop"].pop("password")
            content["entries"].setdefault(section, {})["passwort"] = blob

        rewrite(filled, rename)
        with pytest.raises(TouchedFileError, match="passwort"):
            load(filled, key)

    def test_an_older_value_put_back(self, filled: Path, key: KeyFile) -> None:
        old = json.loads(filled.read_text())["entries"]["shop"]["password"]
        editor.put(filled, key, {PASSWORD: "the new one"})
        rewrite(filled, lambda content: content["entries"]["shop"].update(password=old))
        with pytest.raises(TouchedFileError, match="older"):
            load(filled, key)

    def test_an_entry_of_another_file_with_the_same_key(
        self, filled: Path, key: KeyFile, tmp_path: Path
    ) -> None:
        other = tmp_path / "other.sealed"
        editor.create(other, key)
        editor.put(other, key, {PASSWORD: "of the other file"})
        blob = json.loads(other.read_text())["entries"]["shop"]["password"]
        rewrite(filled, lambda content: content["entries"]["shop"].update(password=blob))
        with pytest.raises(TouchedFileError, match="'shop:password'"):
            load(filled, key)

    def test_a_touched_file_cannot_be_edited_into_a_good_one(self, filled: Path, key: KeyFile) -> None:
        rewrite(filled, lambda content: content["entries"]["shop"].pop("user"))
        before = filled.read_bytes()
        for change in (
            lambda: editor.put(filled, key, {USER: "new"}),
            lambda: editor.remove(filled, key, [PASSWORD]),
            lambda: editor.reseal(filled, key, key),
        ):
            with pytest.raises(TouchedFileError):
                change()
        assert filled.read_bytes() == before


class TestWrongKey:
    def test_another_key_is_told_from_touched_bytes(self, filled: Path, tmp_path: Path) -> None:
        other = KeyFile(tmp_path / "other.key")
        mine = names_in(filled)[0]
        theirs = other.create()
        with pytest.raises(WrongKeyError) as caught:
            load(filled, other)
        assert mine in str(caught.value)
        assert theirs in str(caught.value)

    def test_the_id_says_nothing_about_the_key(self) -> None:
        key = crypto.new_key()
        assert crypto.key_id(key) not in key.hex()
        assert crypto.key_id(key) == crypto.key_id(key) != crypto.key_id(crypto.new_key())


class TestHostileText:
    @pytest.mark.parametrize(
        "text",
        [
            b"", b"[]", b"{}", b"null", b"\xff\xfe", b'{"format": "sparkconfig-sealed"}', b"[" * 100_000,
            b'{"format": "sparkconfig-sealed", "version": 1, "key": [], "entries": {}, "mac": ""}',
            b'{"format": "sparkconfig-sealed", "version": 1, "version": 1}', b"9" * 5000,
        ],
    )  # fmt: skip
    def test_it_is_one_clear_error(self, text: bytes, file: Path, key: KeyFile) -> None:
        file.write_bytes(text)
        with pytest.raises((MalformedFileError, UnknownVersionError), match="sealed file"):
            load(file, key)

    def test_a_newer_version_says_so(self, filled: Path, key: KeyFile) -> None:
        rewrite(filled, lambda content: content.update(version=2))
        with pytest.raises(UnknownVersionError, match="newer"):
            load(filled, key)

    @pytest.mark.parametrize(
        "key_id", ["\x1b[2J" + "a" * 12, "\ud800" * 16, "A" * 16, "a" * 15 + "\n", "a" * 17]
    )
    def test_a_key_id_that_would_reach_a_terminal_is_refused(
        self, filled: Path, key: KeyFile, key_id: str
    ) -> None:
        rewrite(filled, lambda content: content["key"].update(id=key_id))
        with pytest.raises(MalformedFileError, match="hexadecimal") as caught:
            load(filled, key)
        assert str(caught.value).isprintable()
        with pytest.raises(MalformedFileError, match="hexadecimal"):
            names_in(filled)

    def test_members_that_are_not_known_are_refused(self, filled: Path, key: KeyFile) -> None:
        rewrite(filled, lambda content: content.update(note="not authenticated"))
        with pytest.raises(MalformedFileError):
            load(filled, key)

    @given(st.binary(max_size=300))
    @settings(max_examples=200)
    def test_no_bytes_raise_anything_else(self, raw: bytes) -> None:
        with pytest.raises(SealedFileError):
            decode(raw)
