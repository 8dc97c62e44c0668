"""What loguru writes, whether it was imported before the hooks or comes later."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sparkconfig.redaction import MASK

VALUE = "Canary-loguru-7f/x&y"
PROGRAM = """
import sys
from pathlib import Path
before, folder = sys.argv[1] == "before", Path(sys.argv[2])
if before:
    from loguru import logger
from sparkconfig.redaction import install, register
install()
install()
register([{value!r}])
from loguru import logger
seen = []
logger.remove()
logger.add(folder / "plain.log")
logger.add(folder / "queued.log", enqueue=True)
logger.add(folder / "json.log", serialize=True)
logger.add(lambda message: seen.append(str(message) + str(message.record)))
logger.info("said {{}}", {value!r})
logger.bind(token={value!r}).info("bound")
try:
    raise ValueError({value!r})
except ValueError:
    logger.exception("failed")
logger.info("clean")
logger.complete()
(folder / "seen").write_text("".join(seen))
print(type(sys.meta_path[0]).__name__)
"""


@pytest.mark.parametrize("when", ["before", "after"])
def test_no_sink_shows_a_value(when: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM.format(value=VALUE), when, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "_Finder" not in done.stdout, "it steps aside"
    for name in ("plain.log", "queued.log", "json.log"):
        text = (tmp_path / name).read_text()
        assert VALUE not in text, name
        assert f"said {MASK}" in text
        assert "clean" in text
    seen = (tmp_path / "seen").read_text()
    assert f"said {MASK}" in seen
    assert VALUE not in seen.partition("bound")[0], "the record of a message with a value"
