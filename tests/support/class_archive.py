"""A JAVA_HOME whose JVMs map Spark's classes from an archive instead of loading and verifying them one by one.

    python tests/support/class_archive.py [--pyspark DIR] [--into DIR]

Half of the processor time of a short Spark application goes into loading classes, a third of the rest into optimizing
code that runs for seconds; the tests start some hundred of them. This starts Spark once with
`-XX:ArchiveClassesAtExit`, keeps the archive, and prints a JAVA_HOME whose ``java`` starts the real one with it and
without the optimizing compiler. The JVM takes an archive only if the class path begins as it did when the archive was
made, so that ``java`` moves Spark's own jars in front of conf folders and extra jars; with
``SPARKCONFIG_CLASS_PATH=asis`` it leaves the class path alone. Where no archive can be made, the JAVA_HOME of today
is printed: the tests then take longer and find the same.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_TRAINING = Path(__file__).with_name("class_archive_training.py")

_JAVA = """\
#!/bin/sh
# Starts the real Java with an archive of Spark's classes, for class paths that hold Spark's jars: see class_archive.py.
jars={jars}
asis=${{SPARKCONFIG_CLASS_PATH-}}
left=$#
before=
archive=
while [ "$left" -gt 0 ]; do
  argument=$1
  shift
  left=$((left - 1))
  if [ -z "$asis$archive" ]; then
    case $before in -cp | -classpath)
      case $argument in
        "$jars"{all}) argument={first}; archive={archive} ;;
        "$jars"{all}:*) argument={first}:${{argument#"$jars"{all}:}}; archive={archive} ;;
        *:"$jars"{all}) argument={first}:${{argument%:"$jars"{all}}}; archive={archive} ;;
        *:"$jars"{all}:*)
          argument={first}:${{argument%%:"$jars"{all}:*}}:${{argument#*:"$jars"{all}:}}
          archive={archive} ;;
      esac
    esac
  fi
  before=$argument
  set -- "$@" "$argument"
done
case " $* " in *" scala.tools.nsc.Main "*) archive=${{archive:+{compiler}}} ;; esac
# JDK_JAVA_OPTIONS does not reach a process of the tests that starts with an environment of its own. Collecting with
# several threads costs a short application a twentieth of its processor time. In a long one, what one compiler may
# keep is too small: Java would throw compiled methods away and compile them again.
set -- -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=160m "$@"
[ -n "$archive" ] || exec {java} "$@"
if [ -n "${{SPARKCONFIG_ARCHIVE_AT_EXIT-}}" ]; then
  case " $* " in *" org.apache.spark.launcher.Main "*) exec {java} "$@" ;; esac
  exec {java} -XX:ArchiveClassesAtExit="$SPARKCONFIG_ARCHIVE_AT_EXIT" -Xlog:cds*=off -Xlog:class+path=off "$@"
fi
[ -r "$archive" ] || exec {java} "$@"
# Where the archive was made for, none of its pointers has to be changed.
set -- -XX:+UnlockDiagnosticVMOptions -XX:ArchiveRelocationMode=0 "$@"
exec {java} -XX:SharedArchiveFile="$archive" -Xlog:cds*=off -Xlog:class+path=off "$@"
"""


def java_home(pyspark: Path, real: Path, into: Path) -> Path:
    """Return a JAVA_HOME with an archive for a pyspark package; make both unless they are there.

    Args:
        pyspark: the folder of the package, whose ``jars`` are archived.
        real: the JAVA_HOME whose Java runs.
        into: the folder for JAVA_HOMEs like this one.
    """
    jars = pyspark / "jars"
    identity = [str(real), str(jars), str(jars.stat().st_mtime_ns), _JAVA, _TRAINING.read_text()]
    home = into / hashlib.sha256("\n".join(identity).encode()).hexdigest()[:16]
    if (home / "ready").exists():
        return home
    into.mkdir(parents=True, exist_ok=True)
    (home / "bin").mkdir(parents=True, exist_ok=True)
    # Spark 4 names this jar before all others, and again among them.
    first = [str(jar) for jar in sorted(jars.glob("slf4j-api-*.jar"))] if _is_spark_4(jars) else []
    quoted = {
        "jars": shlex.quote(str(jars)),
        "all": '"/*"',
        "first": shlex.quote(":".join([*first, f"{jars}/*"])),
        "java": shlex.quote(str(real / "bin" / "java")),
        "archive": shlex.quote(str(home / "spark.jsa")),
        "compiler": shlex.quote(str(home / "scalac.jsa")),
    }
    java = home / "bin" / "java"
    java.write_text(_JAVA.format(**quoted))
    java.chmod(0o755)
    for name in (real / "bin").iterdir():
        if name.name != "java" and not (home / "bin" / name.name).exists():
            (home / "bin" / name.name).symlink_to(name)
    with tempfile.TemporaryDirectory() as scratch:
        _record(
            home, home / "spark.jsa", [str(pyspark / "bin" / "spark-submit"), str(_TRAINING)], Path(scratch)
        )
        source = Path(scratch) / "Training.scala"
        source.write_text(
            "object Training { def main(words: Array[String]): Unit = words.map(_.length).foreach(println) }\n"
        )
        compiler = [
            str(java),
            "-Xss8m",
            "-cp",
            f"{jars}/*",
            "scala.tools.nsc.Main",
            "-usejavacp",
            "-d",
            scratch,
        ]
        _record(home, home / "scalac.jsa", [*compiler, str(source)], Path(scratch))
    (home / "ready").touch()
    return home


def _is_spark_4(jars: Path) -> bool:
    return not any(jars.glob("spark-core_*-3.*.jar"))


def _record(home: Path, archive: Path, command: list[str], scratch: Path) -> None:
    partial = archive.with_suffix(f".{os.getpid()}.jsa")
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK", "PYSPARK"))}
    environ |= {
        "JAVA_HOME": str(home),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARKCONFIG_ARCHIVE_AT_EXIT": str(partial),
        # As in the tests: code of another compiler would be no class of theirs.
        "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1",
    }
    done = subprocess.run(command, env=environ, cwd=scratch, capture_output=True, text=True, check=False)
    if partial.exists():
        partial.replace(archive)
    else:
        sys.stderr.write(
            f"no archive {archive.name}, tests start slower:\n{(done.stdout + done.stderr)[-2000:]}\n"
        )


def main() -> None:
    """Parse the command line and print JAVA_HOME."""
    parser = argparse.ArgumentParser(
        description="print a JAVA_HOME that starts Spark with an archive of its classes"
    )
    parser.add_argument("--pyspark", type=Path, help="the package (default: the one in this environment)")
    parser.add_argument(
        "--into", type=Path, default=_ROOT / ".cache" / "java", help="where archives are kept"
    )
    arguments = parser.parse_args()
    if arguments.pyspark is None:
        import pyspark

        arguments.pyspark = Path(pyspark.__file__).parent
    real = Path(os.environ["JAVA_HOME"])
    # Worktrees share the folder by a link; the archive holds paths, and stays when a worktree goes.
    sys.stdout.write(f"{java_home(arguments.pyspark.resolve(), real, arguments.into.resolve())}\n")


if __name__ == "__main__":
    main()
