"""An environment in which AWS' libraries find no identity of this machine's."""

from __future__ import annotations

from pathlib import Path

import pytest


def without_identity(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Take away what the environment, files and the machine's metadata would say."""
    for name in (
        "AWS_PROFILE",
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(folder / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(folder / "none"))
