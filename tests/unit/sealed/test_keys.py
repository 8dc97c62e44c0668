"""Where keys come from, and rotation."""

from __future__ import annotations

import base64
import json
import stat
from pathlib import Path

import pytest

from sparkconfig.errors import ConfigurationError
from sparkconfig.sealed import editor
from sparkconfig.sealed.failures import (
    KeyMissingError,
    KeyUnusableError,
    MalformedFileError,
    NotAFileError,
    TouchedFileError,
    WrongKeyError,
)
from sparkconfig.sealed.keys import EnvKey, KeyFile
from sparkconfig.sealed.names import EntryName
from sparkconfig.sealed.opened import SealedReader, load, names_in

PASSWORD = EntryName("shop", "password")


class TestKeyFile:
    def test_a_new_one_is_private_and_never_replaces(self, key: KeyFile) -> None:
        before = key.path.read_bytes()
        assert stat.S_IMODE(key.path.stat().st_mode) == 0o600
        with pytest.raises(ConfigurationError, match="exists already"):
            key.create()
        assert key.path.read_bytes() == before

    @pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o620, 0o601, 0o777])
    def test_wider_permissions_are_refused(self, key: KeyFile, file: Path, mode: int) -> None:
        key.path.chmod(mode)
        with pytest.raises(KeyUnusableError, match=f"{mode:04o}.*chmod 600"):
            load(file, key)

    def test_narrower_permissions_are_fine(self, key: KeyFile, file: Path) -> None:
        key.path.chmod(0o400)
        assert load(file, key).names() == []

    def test_a_missing_one_says_how_to_make_it(self, tmp_path: Path) -> None:
        with pytest.raises(KeyMissingError, match="new-key"):
            editor.create(tmp_path / "new", KeyFile(tmp_path / "absent"))

    def test_beside_a_file_that_exists_a_new_key_is_no_advice(self, file: Path, tmp_path: Path) -> None:
        key_id, _ = names_in(file)
        with pytest.raises(KeyMissingError) as caught:
            load(file, KeyFile(tmp_path / "absent"))
        assert f"copy the one that holds key {key_id} there" in str(caught.value)
        assert "new-key" not in str(caught.value)

    @pytest.mark.parametrize(
        "text", ["", "# only a comment\n", "not base64!", base64.b64encode(b"x" * 16).decode()]
    )
    def test_other_content_is_refused_without_being_shown(self, key: KeyFile, file: Path, text: str) -> None:
        key.path.write_text(text)
        with pytest.raises(KeyUnusableError) as caught:
            load(file, key)
        assert not text.strip() or text.strip() not in str(caught.value)

    def test_a_key_that_openssl_made_is_good(self, tmp_path: Path) -> None:
        """``openssl rand -base64 32`` writes one line."""
        path = tmp_path / "k"
        path.write_text("# made by hand\n" + base64.b64encode(bytes(range(32))).decode() + "\n")
        path.chmod(0o600)
        editor.create(tmp_path / "f", KeyFile(path))
        assert load(tmp_path / "f", KeyFile(path)).names() == []

    def test_a_directory_and_a_pipe_are_errors_and_no_waiting(self, file: Path, tmp_path: Path) -> None:
        import os

        os.mkfifo(tmp_path / "pipe", 0o600)
        for path in (tmp_path, tmp_path / "pipe"):
            with pytest.raises(KeyUnusableError):
                load(file, KeyFile(path))
            with pytest.raises(NotAFileError):
                load(path, KeyFile(file))


class TestPassphrase:
    def test_a_file_with_one_says_what_to_do(self, key: KeyFile, file: Path) -> None:
        content = json.loads(file.read_text())
        content["key"]["scrypt"] = {"n": 1 << 30, "r": 8, "p": 1}
        file.write_text(json.dumps(content))
        with pytest.raises(MalformedFileError, match=r"passphrase.*--key-file"):
            load(file, key)

    def test_a_touched_id_is_not_a_wrong_key(self, key: KeyFile, file: Path) -> None:
        content = json.loads(file.read_text())
        content["key"]["id"] = "0" * 16
        file.write_text(json.dumps(content))
        with pytest.raises(TouchedFileError, match="key id"):
            load(file, key)


class TestRotation:
    def test_readers_find_a_key_at_every_step(self, key: KeyFile, file: Path) -> None:
        editor.put(file, key, {PASSWORD: "v"})
        reader = SealedReader(file, key)
        assert reader.current().value(PASSWORD) == "v"
        new = key.add()
        assert reader.current().value(PASSWORD) == "v"
        old, used = editor.reseal(file, key, key)
        assert used == new != old
        assert reader.current().value(PASSWORD) == "v"
        assert key.drop_older() == [old]
        assert reader.current().value(PASSWORD) == "v"
        assert stat.S_IMODE(key.path.stat().st_mode) == 0o600

    def test_the_old_key_opens_nothing_afterwards(self, key: KeyFile, file: Path) -> None:
        editor.put(file, key, {PASSWORD: "v"})
        old = EnvKey("OLD", {"OLD": key.path.read_text()})
        before = load(file, old).document
        key.add()
        editor.reseal(file, key, key)
        with pytest.raises(WrongKeyError):
            load(file, old)
        after = load(file, key).document
        assert after.header.salt != before.header.salt
        assert after.entries[PASSWORD] != before.entries[PASSWORD]
