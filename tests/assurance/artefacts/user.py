"""A new user's machine: an environment of its own with the built wheel, a Spark, and nothing of the checkout."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

VALUE = "artefacts-canary-5d20-value"
#: Of one program. A busy machine takes two minutes for an application.
SECONDS = 600
#: What would lead a program to this checkout, or to another Spark.
OUTSIDE = ("SPARK_", "PYSPARK_", "PYTHON", "VIRTUAL_ENV", "SPARKCONFIG_", "MAKE", "MFLAGS")


class WrongError(Exception):
    """A program did not do what its help or a page says."""


class User:
    """Somebody with one Spark and the files of a release.

    Args:
        folder: all that is made is in it.
        dist: the files of the release; they are copied, as a download would be.
        pyspark: the installed package ``pyspark``: 450 MB that are linked and not copied.
    """

    def __init__(self, folder: Path, dist: Path, pyspark: Path) -> None:
        self.folder = folder
        self.job = folder / "job"
        self.dist = folder / "download"
        self.venv = folder / "venv"
        self.python = self.venv / "bin" / "python"
        self._pyspark = pyspark
        self.job.mkdir(parents=True)
        shutil.copytree(dist, self.dist)
        (self.wheel,) = self.dist.glob("*.whl")
        (metadata,) = pyspark.parent.glob("pyspark-*.dist-info")
        self.version = metadata.name.removeprefix("pyspark-").removesuffix(".dist-info")
        text = (metadata / "METADATA").read_text(encoding="utf-8")
        #: What ``pip install pyspark`` brings beside it.
        self.py4j = re.findall(r"^Requires-Dist: (py4j[^;\n]*?)\s*$", text, re.MULTILINE)[0]
        self._environment(self.venv)
        self.pip(self.py4j, f"{self.wheel}[policy]")
        self.home = self._home()

    @property
    def scala(self) -> str:
        """The Scala version of this Spark."""
        return "2.12" if self.version.startswith("3.") else "2.13"

    def pip(self, *what: str) -> None:
        """Install packages into the environment."""
        self.run(self.python, "-m", "pip", "install", "-q", *what, seconds=900)

    def bare(self) -> Path:
        """The folder of an environment with Spark alone."""
        folder = self.folder / "bare"
        if not folder.exists():
            self._environment(folder, "--without-pip")
        return folder

    def submit(self, *words: str | Path, bare: bool = False, fails: bool = False) -> str:
        """Run ``spark-submit`` of this Spark."""
        return self.run(self.spark / "bin" / "spark-submit", *words, bare=bare, fails=fails)

    @property
    def spark(self) -> Path:
        """The folder of Spark, through the environment's own link."""
        return self.venv / "spark" / "pyspark"

    def command(self, *words: str | Path, text: str = "", code: int = 0) -> str:
        """Run ``sparkconfig``; with ``--json`` its output has to be one object.

        Raises:
            WrongError: another exit code, or an output that it may not have.
        """
        shown = self.run("sparkconfig", *words, text=text, code=code)
        if "--json" in words:
            try:
                answer = json.loads(shown)
            except ValueError:
                answer = None
            if not isinstance(answer, dict) or "ok" not in answer:
                raise WrongError(f"sparkconfig {words[0]} --json printed no object")
        return shown

    def run(
        self,
        *words: str | Path,
        text: str = "",
        code: int = 0,
        bare: bool = False,
        fails: bool = False,
        seconds: int = SECONDS,
        environ: Sequence[tuple[str, str]] = (),
    ) -> str:
        """Run a program as somebody would who has activated the environment, and nothing else.

        Returns:
            its standard output; of a program that has to fail, standard error too, unless ``--json`` is given.

        Raises:
            WrongError: it ended otherwise or not in time, or a value was printed.
        """
        venv = self.bare() if bare else self.venv
        plain = {key: value for key, value in os.environ.items() if not key.startswith(OUTSIDE)}
        env = {
            **plain,
            "PATH": os.pathsep.join([str(venv / "bin"), plain["PATH"]]),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": str(venv / "bin" / "python"),
            **dict(environ),
        }
        what = " ".join(Path(word).name if isinstance(word, Path) else word for word in words)
        try:
            done = subprocess.run(
                [str(word) for word in words], input=text, cwd=self.job, env=env, capture_output=True, text=True,
                timeout=seconds, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise WrongError(f"{what}: did not end in {seconds} s") from None
        everything = done.stdout + done.stderr
        if VALUE in everything:
            raise WrongError(f"{what}: a value was printed")
        if (done.returncode == 0) if fails else (done.returncode != code):
            said = "\n".join(line for line in everything.splitlines()[-25:] if not line.startswith("\tat "))
            raise WrongError(f"{what}: ended with {done.returncode}:\n{said}")
        return everything if (fails or code) and "--json" not in words else done.stdout

    def start(self, *words: str | Path) -> str:
        """What the fastest of ten starts takes: to be printed and not asserted, since other programs slow it down."""
        took, used = [], []
        for _ in range(10):
            began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            self.run(*words)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            took.append(time.perf_counter() - began)
            used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return f"{min(took) * 1000:.0f} ms ({min(used) * 1000:.0f} of the processor)"

    def _environment(self, folder: Path, *options: str) -> None:
        subprocess.run([sys.executable, "-m", "venv", *options, folder], check=True)
        links = folder / "spark"
        links.mkdir()
        (links / "pyspark").symlink_to(self._pyspark, target_is_directory=True)
        (site,) = folder.glob("lib/python3*/site-packages")
        (site / "pyspark.pth").write_text(f"{links}\n")

    def _home(self) -> Path:
        """A Spark whose folders ``jars`` and ``conf`` may be changed; the rest are links."""
        home = self.folder / "opt" / "spark"
        (home / "jars").mkdir(parents=True)
        (home / "conf").mkdir()
        for original in (*self._pyspark.iterdir(), *(self._pyspark / "jars").iterdir()):
            copy = home / original.relative_to(self._pyspark)
            if not copy.exists() and not original.name.startswith("sparkconfig"):
                copy.symlink_to(original, target_is_directory=original.is_dir())
        return home


def expect(text: str, *wanted: str) -> None:
    """Raises:
    WrongError: one of them is missing.
    """
    if missing := [each for each in wanted if each not in text]:
        raise WrongError(f"it does not say {missing}:\n{text[-1500:]}")
