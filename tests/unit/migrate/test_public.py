"""Shapes of public configuration files, with names and values replaced: what is a secret in clear, and what is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sparkconfig.migrate.gate import findings
from sparkconfig.migrate.plan import Names, plan_file

SHAPES = json.loads(Path(__file__).with_name("public.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("shape", SHAPES, ids=[f"{each['file']}-{each['text'][:40]}" for each in SHAPES])
def test_shapes_of_public_files(tmp_path: Path, shape: dict[str, str]) -> None:
    pytest.importorskip("yaml", reason="the extra yaml")
    path = tmp_path / shape["file"]
    path.write_text(f"{shape['text']}\n", encoding="utf-8")
    found, _ = findings([plan_file(path, Names("app", {}), provider="s")], "s")
    assert len(found) == shape["secrets"], [(each.line, each.key, each.shape) for each in found]
