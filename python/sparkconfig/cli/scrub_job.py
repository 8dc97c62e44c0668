"""``sparkconfig scrub --spark``: which references the job resolves, and what its application is told."""

from __future__ import annotations

import argparse
import base64
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sparkconfig.cli.keys import key_and_param
from sparkconfig.settings.schema import PREFIX

if TYPE_CHECKING:
    from sparkconfig.scrub.logs import Result

__all__ = ["run"]

_KEY = "SPARKCONFIG_SCRUB_KEY"
_LINES, _FILE = "scrublines", "scrubfile"


def run(options: argparse.Namespace, since: float) -> tuple[list[Result], list[str]]:
    """Search or clean on executors; return what became of each log, and the values not searched for."""
    from sparkconfig.checks.dry_run import read_confs
    from sparkconfig.checks.exit_codes import FileError
    from sparkconfig.language import references
    from sparkconfig.resolution import messages
    from sparkconfig.scrub import values
    from sparkconfig.scrub.job import Job, application

    confs = read_confs(options.conf_file, options.conf)
    own = {key: text for key, text in confs.items() if key.startswith(PREFIX)}
    wanted = {messages.written(references.scan(text)[0]): text for text in values.named_in(confs.values())}
    if options.sealed_file is not None:
        key, param = key_and_param(options)
        for name in values.of_sealed_file(options.sealed_file, key, "secrets"):
            wanted[name] = name.replace("${secrets:", f"${{{_FILE}:", 1)
        _declare(own, _FILE, {"file": str(options.sealed_file.absolute()), **param})
    with _lines(own, wanted=options.stdin) as lines:
        wanted |= lines
        own |= read_confs([], options.spark_conf)
        own.setdefault("spark.ui.showConsoleProgress", str(sys.stderr.isatty()).lower())
        # A task twice at once would rewrite a log twice.
        own["spark.speculation"] = "false"
        with application(own) as session:
            job = Job(
                session,
                wanted,
                by_shape=not options.no_shapes and not options.clean,
                mask_shapes=options.shapes,
            )
            try:
                found = job.logs_in(options.paths, since=since)
            except OSError as error:
                raise FileError(Path(error.filename or "."), error) from None
            results = job.clean(found) if options.clean and not options.dry_run else job.find(found)
            return results, job.unfit


def _declare(own: dict[str, str], name: str, params: dict[str, str]) -> None:
    own[f"{PREFIX}providers"] = ",".join(filter(None, [own.get(f"{PREFIX}providers"), name]))
    own[f"{PREFIX}providers.{name}.class"] = "sealed"
    for param, text in params.items():
        own[f"{PREFIX}providers.{name}.param.{param}"] = text


@contextmanager
def _lines(own: dict[str, str], *, wanted: bool) -> Iterator[dict[str, str]]:
    """The lines of standard input as references: sealed in a file, whose key is in the memory of processes alone."""
    if not wanted:
        yield {}
        return
    from sparkconfig.scrub import values
    from sparkconfig.sealed import crypto, editor
    from sparkconfig.sealed.keys import EnvKey
    from sparkconfig.sealed.names import EntryName

    found = values.of_lines(sys.stdin.buffer.read())
    with tempfile.TemporaryDirectory(prefix="sparkconfig-scrub-") as folder:
        file = Path(folder, "lines.sealed")
        os.environ[_KEY] = base64.b64encode(crypto.new_key()).decode()
        try:
            key = EnvKey(_KEY)
            editor.create(file, key)
            keys = {name: f"n{number}" for number, name in enumerate(found)}
            editor.put(file, key, {EntryName("lines", keys[name]): value for name, value in found.items()})
            _declare(own, _LINES, {"file": str(file), "key.env": _KEY})
            yield {name: f"${{{_LINES}:lines:{keys[name]}}}" for name in found}
        finally:
            os.environ.pop(_KEY, None)
