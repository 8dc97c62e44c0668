"""Jars by their Maven coordinates, cached in the checkout."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from support.jdbc import java_trust_options
from support.processes import HarnessError, Run
from support.spark_home import spark_environment, spark_home

_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"


def maven_jars(
    run: Run,
    name: str,
    coordinates: Sequence[str],
    *,
    cache: Path,
    transitive: bool = True,
    without: Sequence[str] = (),
) -> list[Path]:
    """The jars of ``coordinates``: cached, through ``mvn``, or through Spark's own ``--packages``.

    Args:
        name: of the folder in the cache; with the versions in it, since a folder that is there is taken as it is.
        coordinates: ``group:artifact:version`` each, or ``group:artifact:version:classifier``.
        cache: where the jars are kept between runs.
        transitive: with all that they depend on.
        without: what to leave out of that, ``group:artifact`` each.
    """
    folder = cache / "jars" / name
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = run.private_dir(f"maven-{name}")
        found = work / "jars"
        if shutil.which("mvn"):
            _with_maven(run, work, found, coordinates, without if transitive else ["*:*"])
        else:
            found = _with_spark(run, work, coordinates, without)
        # Copied, then renamed: an interrupted download never leaves half a folder under the final name.
        part = folder.with_name(f"{name}.{os.getpid()}.part")
        shutil.copytree(found, part)
        try:
            part.rename(folder)
        except OSError:  # another process was faster
            shutil.rmtree(part)
    return sorted(folder.glob("*.jar"))


def _with_maven(run: Run, work: Path, into: Path, coordinates: Sequence[str], without: Sequence[str]) -> None:
    left_out = "".join(
        f"<exclusion><groupId>{group}</groupId><artifactId>{artifact}</artifactId></exclusion>"
        for group, artifact in (text.split(":") for text in without)
    )
    tags = ("groupId", "artifactId", "version", "classifier")
    wanted = "".join(
        "<dependency>"
        + "".join(f"<{tag}>{part}</{tag}>" for tag, part in zip(tags, text.split(":"), strict=False))
        + f"<exclusions>{left_out}</exclusions></dependency>"
        for text in coordinates
    )
    (work / "pom.xml").write_text(
        "<project><modelVersion>4.0.0</modelVersion><groupId>tests</groupId><artifactId>jars</artifactId>"
        f"<version>1</version><dependencies>{wanted}</dependencies></project>"
    )
    command = ["mvn", "-B", "-q", "-f", work / "pom.xml", _GOAL, f"-DoutputDirectory={into}"]
    child = run.start(work.name, command)
    if child.wait(timeout=600) != 0:
        raise HarnessError(f"could not get {', '.join(coordinates)}: {child.output().strip()[-1500:]}")


def _with_spark(run: Run, work: Path, coordinates: Sequence[str], without: Sequence[str]) -> Path:
    (work / "conf").mkdir()
    (work / "nothing.py").write_text("")
    command = [
        spark_home() / "bin" / "spark-submit", "--master", "local[1]", "--packages", ",".join(coordinates),
        *(["--exclude-packages", ",".join(without)] if without else []),
        "--conf", f"spark.jars.ivy={work}", work / "nothing.py",
    ]  # fmt: skip
    env = {**spark_environment(work / "conf", work), "SPARK_SUBMIT_OPTS": java_trust_options(run)}
    child = run.start(work.name, command, env=env)
    if child.wait(timeout=600) != 0:
        raise HarnessError(f"could not get {', '.join(coordinates)}: {child.output().strip()[-1500:]}")
    return work / "jars"
