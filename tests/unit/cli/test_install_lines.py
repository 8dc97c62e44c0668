"""No page, template or message installs the package by a name that is not reserved yet."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
# Extras come after the installed package, which pip then keeps.
BY_NAME = re.compile(
    r"pip install (?:(?!&&)\S+ )*?['\"]?sparkconfig(?![-\[\w])|pip download .*['\"\s]sparkconfig[\[=]"
)


def test_nobody_is_told_to_install_by_name() -> None:
    folders = ("docs", "conf", "python/sparkconfig", "jvm-shim/src")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    texts = {path: path.read_bytes().decode(errors="replace") for path in [ROOT / "README.md", *files]}
    found = {
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path, text in texts.items()
        if path.suffix not in (".jar", ".pyc", ".png")
        for line in text.splitlines()
        if BY_NAME.search(line)
    }
    # The two pages that say why not.
    assert {line.partition(":")[0] for line in found} == {"README.md", "docs/cli.md"}
    assert len(found) == 2
