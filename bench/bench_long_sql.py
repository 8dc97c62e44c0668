"""Long SQL texts under a policy, beside the same Spark without sparkconfig: what the doors add must stay linear.

    python bench/bench_long_sql.py [--kilobytes 128,1024]

Two local applications analyse the same statements, in turn: one is stock Spark, the other has rules about statements,
sources and paths that allow all of them. Each time is the best of some rounds.
"""

# ruff: noqa: SLF001 - Spark's own session is what analyses
from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.session import running_session

RULES = {
    "statements": [{"type": "allow", "statement": "*"}],
    "sources": [{"type": "allow", "source": ["csv", "json", "parquet"]}],
    "paths": [{"type": "allow", "path": "file:/data/*"}],
}


def repeated(piece: Callable[[int], str], size: int, between: str) -> str:
    """Pieces until they have so many characters."""
    pieces, length, number = [], 0, 0
    while length < size:
        pieces.append(piece(number))
        length += len(pieces[-1]) + len(between)
        number += 1
    return between.join(pieces)


def text_of(shape: str, size: int) -> str:
    """A statement of about so many characters."""
    if shape == "one literal":
        return f"SELECT '{'x' * size}' AS a"
    if shape == "a list of literals":
        return f"SELECT id FROM range(9) WHERE id IN ({repeated(lambda n: str(10**6 + n), size, ', ')})"
    if shape == "columns with functions":
        columns = repeated(lambda n: f"upper(concat('{n:06}', '{'text ' * 10}')) AS c{n:06}", size, ", ")
        return f"SELECT {columns}"
    if shape == "a table of values":
        rows = repeated(lambda n: f"({n}, 'name of {n:08}', 'town of {n:08}')", size, ", ")
        return f"SELECT * FROM VALUES {rows} AS t(a, b, c)"
    return f"SELECT {repeated(lambda n: f'c{n:06}', size, ', ')} FROM ,"


SHAPES = (
    "one literal",
    "a list of literals",
    "columns with functions",
    "a table of values",
    "an invalid statement",
)


def seconds(spark: object, text: str, rounds: int = 3) -> float:
    """The best time of analysing a text."""
    best = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        try:  # what Spark refuses takes its time, too
            spark._jsparkSession.sql(text)  # type: ignore[attr-defined]
        except Exception as error:
            if "PARSE_SYNTAX_ERROR" not in str(error)[:200]:
                raise
        best = min(best, time.perf_counter() - begin)
    return best


def main() -> None:
    """Print milliseconds of each shape and size, without sparkconfig and with it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kilobytes", default="128,1024", help="sizes of the texts")
    sizes = [int(each) for each in parser.parse_args().kilobytes.split(",")]
    found: dict[tuple[str, int], list[float]] = {}
    for mine in (False, True):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "policy.json").write_text(json.dumps(RULES))
            policy = "spark.config.override.policy"
            lines = [
                f"spark.config.agent.python={sys.executable}",
                "spark.plugins=io.sparkconfig.ConfigPlugin",
                f"{policy}=Rules",
                f"{policy}.param.file={folder}/policy.json",
            ]
            if mine:
                (folder / "sparkconfig.conf").write_text("\n".join(lines) + "\n")
            conf = {"spark.master": "local[1]", "spark.ui.enabled": "false", "spark.driver.memory": "3g"}
            with running_session(conf, folder=folder, env={"SPARK_CONF_DIR": name}, plugin=mine) as spark:
                seconds(spark, text_of("columns with functions", 20_000), 20)
                for shape in SHAPES:
                    for size in sizes:
                        found.setdefault((shape, size), []).append(seconds(spark, text_of(shape, size << 10)))
    for (shape, size), (stock, ours) in found.items():
        sys.stdout.write(
            f"{shape:24} {size:5} kB  {stock * 1000:8.1f} ms  {ours * 1000:8.1f} ms  {ours / stock:5.2f}\n"
        )


if __name__ == "__main__":
    main()
