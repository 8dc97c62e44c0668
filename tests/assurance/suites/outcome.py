"""How tests ended, and what turns sparkconfig on for tests of others."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

#: Stands for a suite that was aborted or did not run.
WHOLE = "(the whole suite)"


@dataclass(frozen=True)
class Outcome:
    """How the tests of some suites ended: ``suite: test`` to ``passed``, ``failed``, ``canceled`` or ``ignored``."""

    tests: Mapping[str, str]
    seconds: float
    #: Of failures: the first line of what was thrown.
    why: Mapping[str, str] = field(default_factory=dict)
    #: Suites that had not ended when the time was over.
    left: Sequence[str] = ()

    def doubtful(self, suites: Sequence[str], failing: Collection[str] = ()) -> list[str]:
        """The suites in which something else happened than passing, and tests that are always ignored.

        Args:
            failing: tests that are known to fail without sparkconfig as well.
        """
        wrong = {
            test.split(": ")[0]
            for test, state in self.tests.items()
            if state not in ("passed", "ignored") and not (state == "failed" and test in failing)
        }
        return [suite for suite in suites if suite in wrong]


def settings(folder: Path) -> dict[str, str]:
    """The plugin on, with a secret that no test contains; by system properties, which reach every SparkConf."""
    secret = folder / "secrets.properties"
    secret.write_text("word=Canary-of-the-suites-7731\n")
    return {
        "spark.plugins": "io.sparkconfig.ConfigPlugin",
        "spark.config.agent.python": sys.executable,
        "spark.config.providers": "files",
        "spark.config.providers.files.class": "file",
        "spark.config.inplace.keys": "spark.suites.word",
        "spark.suites.word": f"${{files:{secret}:word}}",
        # The suites of core start clusters on this host without a secret between them.
        "spark.config.rpc.insecure": "true",
    }
