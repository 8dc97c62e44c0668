"""What the surface files leave undecided of a Spark's plans, expressions and functions.

    python tools/surface/plans.py --pyspark DIR [--jar JAR...] [--file FILE...]

Every function of the registry is decided, every class of a plan or an expression, and every argument of a plan that may
hold a text, a map or a URI. Types and metadata are always read; plans and expressions below are walked. ``--jar`` are
those of another library, such as Delta, with surface files of its own (``--file``): what that adds is printed. The
program prints what is undecided and ends with 1 if there is anything.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import files

sys.path.insert(0, str(files.ROOT / "tools" / "jars"))

import classes

CATALYST = "org.apache.spark.sql.catalyst"
PLAN = f"{CATALYST}.plans.logical.LogicalPlan"
EXPRESSION = f"{CATALYST}.expressions.Expression"
#: The jars of Spark that have plans and expressions, and what those extend.
JARS = re.compile(r"spark-(catalyst|sql|hive|pipelines|mllib)_.*\.jar")
#: The files about Spark itself.
SPARK = ("plans.json", "arguments.json", "expressions.json", "functions.json")
REGISTRIES = ("FunctionRegistry$", "TableFunctionRegistry$")
#: What the registries' code names besides.
NO_FUNCTIONS = {"class()", "conversion_funcs()"}
#: What the code of an expression or a plan gives to the registries.
OWN_FUNCTIONS = {"struct()", "python_worker_logs()"}
_FUNCTION = re.compile(r"[a-z_][a-z0-9_]*|[!%&*+/<=>^|~-]+")
#: As io.sparkconfig.policy.doors.Kinds writes a class.
_OWN = re.compile(r"^org\.apache\.spark\.sql\.((catalyst|execution|hive|metricview)\.(.*\.)?)?")
_TEXT = re.compile(
    r"java/(lang/(String|Object)|net/URI|util/Properties)|hadoop/fs/Path|\[B|Map[<;]|CaseInsensitive"
)
_NUMBER = re.compile(
    r"L(scala/Option|scala/collection/immutable/Seq|scala/collection/Seq)<Ljava/lang/Object;>;"
)
#: Maps and functions of expressions and columns.
_NO_TEXT = re.compile(r"Lscala/Function|AttributeMap<|Broadcast<|Encoder<")


def short(name: str) -> str:
    """Return a class's name as the surface files write it."""
    return _OWN.sub("", name.removesuffix("$"))


def main() -> int:
    """Print what is undecided."""
    parser = argparse.ArgumentParser(description="what the surface files leave undecided of a Spark's plans")
    parser.add_argument("--pyspark", type=Path, required=True, help="an installed pyspark package directory")
    parser.add_argument("--jar", type=Path, action="append", default=[], help="of another library")
    parser.add_argument(
        "--file", type=Path, action="append", default=[], help="a surface file of that library"
    )
    parser.add_argument("--folder", type=Path, default=files.FOLDER, help=argparse.SUPPRESS)
    options = parser.parse_args()
    jars = [path for path in sorted((options.pyspark / "jars").glob("*.jar")) if JARS.fullmatch(path.name)]
    catalyst = next(path for path in jars if path.name.startswith("spark-catalyst_"))
    spark = catalyst.stem.rpartition("-")[2]
    decided: set[str] = set()
    for path in [*(options.folder / name for name in SPARK), *options.file]:
        decided |= set(files.verdicts(files.read(path), ".".join(spark.split(".")[:2])))
    kinds = classes.read(jars)
    own = set() if not options.jar else set(kinds)
    kinds |= classes.read(options.jar)
    wanted = names([kind for kind in classes.below(PLAN, kinds) if kind.name not in own], arguments=True)
    wanted |= names(
        [kind for kind in classes.below(EXPRESSION, kinds) if kind.name not in own], arguments=False
    )
    if not options.jar:
        texts = {
            text for name in REGISTRIES for text in classes.strings(catalyst, f"{CATALYST}.analysis.{name}")
        }
        wanted |= {f"{text}()" for text in texts if _FUNCTION.fullmatch(text)} - NO_FUNCTIONS | OWN_FUNCTIONS
    lines = [f"undecided on Spark {spark}: {name}\n" for name in sorted(wanted - decided)]
    sys.stdout.writelines(lines)
    return int(bool(lines))


def names(kinds: Iterable[classes.Kind], *, arguments: bool) -> set[str]:
    """Return what has to be decided of these classes."""
    found = set()
    for kind in kinds:
        name = short(kind.name)
        found.add(name)
        if arguments:
            found.update(f"{name}.{argument}" for argument, typed in kind.arguments if _is_text(typed))
    return found


def _is_text(typed: str) -> bool:
    return bool(_TEXT.search(typed)) and not _NUMBER.fullmatch(typed) and not _NO_TEXT.search(typed)


if __name__ == "__main__":
    sys.exit(main())
