"""The product broken on purpose: a copy of one of its files with one step done wrong. Each must be found."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from leaks.support import PYSPARK
from support.shim import shim_jar
from support.spark_home import java

ROOT = Path(__file__).parents[3]
_SCALA = ROOT / "jvm-shim" / "src" / "main" / "scala"


@dataclass(frozen=True)
class Break:
    """One step done wrong.

    Attributes:
        file: relative to the package, or to the sources in Scala.
        old: a text that the file holds once.
        found: the kinds of error of which one must be found, besides others.
        needs: faults without which it does not show.
    """

    what: str
    file: str
    old: str
    new: str
    found: Sequence[str]
    needs: Sequence[str] = ()

    @property
    def is_scala(self) -> bool:
        """Whether a jar is made of it."""
        return self.file.endswith(".scala")

    def text(self) -> str:
        """The file with the step done wrong.

        Raises:
            ValueError: the product has changed, and this does not fit it any more.
        """
        source = (_SCALA if self.is_scala else ROOT / "python" / "sparkconfig") / self.file
        whole = source.read_text()
        if whole.count(self.old) != 1:
            raise ValueError(f"{self.file} holds this {whole.count(self.old)} times:\n{self.old}")
        return whole.replace(self.old, self.new)


_LAST = "    received.foreach(snapshot => Redactor.register(snapshot.secretValues, snapshot.generation))\n"
_MASKS = (
    """    Option(news.retired).foreach { retired =>
      Redactor.register(key().decryptMasks(retired.masks, content(retired.inline, retired.shared)), news.generation)
    }
    // Newer news only: an answer may be overtaken by the next one.
    val received =
      if (news.generation <= held.get().generation) None
      else Some(key().decrypt(news.generation, content(news.inline, news.shared)))
"""
    + _LAST
)

BREAKS = {
    "older": Break(
        "an older generation wins",
        "worker.py",
        "        _keep(held)\n    return held\n",
        "        _keep(held)\n"
        '        older = globals().setdefault("_older", [])\n'
        "        older.append(held)\n"
        "        if len(older) % 5 == 0:\n"
        "            held = older[-3]\n"
        "    return held\n",
        ("backwards", "older than submission"),
    ),
    "mixed": Break(
        "a path is read key by key",
        "providers/file.py",
        "        data = self._load(path)\n        if self._structured:",
        "        import time\n\n"
        "        data = {}\n"
        "        for key in self._load(path):\n"
        "            data[key] = self._load(path)[key]\n"
        "            time.sleep(0.05)\n"
        "        if self._structured:",
        ("torn",),
        ("a change every 50 ms",),
    ),
    "push": Break(
        "a push without acknowledgement",
        "io/sparkconfig/executor/Pushes.scala",
        "      listener.acknowledged(state)\n",
        "",
        ("stale", "revoked"),
    ),
    "revoked": Break(
        "a revoked value is served",
        "resolution/cache_read.py",
        "        if isinstance(outcome.error, SparkConfigError):\n            raise outcome.error\n",
        "        if isinstance(outcome.error, SparkConfigError):\n"
        "            raise ProviderUnavailableError(str(outcome.error))\n",
        ("revoked",),
        ("store deletes", "file deleted"),
    ),
    "mask": Break(
        "a value is used before it is masked",
        "io/sparkconfig/executor/ExecutorValues.scala",
        _MASKS,
        _MASKS.replace("Redactor.register(key()", "Seq(key()").replace(_LAST, ""),
        ("not masked",),
    ),
}


def package(of: Break, folder: Path) -> Path:
    """A folder with a copy of the package."""
    copy = folder / "sparkconfig"
    shutil.copytree(ROOT / "python" / "sparkconfig", copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / of.file).write_text(of.text())
    return folder


def jar(of: Break, folder: Path) -> Path:
    """A copy of the product's jar."""
    source = folder / Path(of.file).name
    source.write_text(of.text())
    classes = folder / "classes"
    classes.mkdir()
    command = [
        java(), "-Xss8m", "-XX:TieredStopAtLevel=1", "-cp", f"{shim_jar()}:{PYSPARK / 'jars'}/*",
        "scala.tools.nsc.Main", "-usejavacp", "-nowarn", "-d", str(classes), str(source),
    ]  # fmt: skip
    subprocess.run(command, check=True)
    made = {path.relative_to(classes).as_posix(): path.read_bytes() for path in classes.rglob("*.class")}
    result = folder / shim_jar().name
    with zipfile.ZipFile(shim_jar()) as before, zipfile.ZipFile(result, "w") as after:
        for each in before.infolist():
            after.writestr(each, made.pop(each.filename) if each.filename in made else before.read(each))
        for name, content in made.items():
            after.writestr(name, content)
    return result
