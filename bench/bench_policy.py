"""What policies cost: at the start, at every session check, and in general.

    python bench/bench_policy.py [--json]

1,000 confs against 500 rules (exact keys, patterns, ranges, regular expressions). "first" includes finding the
rules for names that were never seen; "again" is what every later check pays. "query" is what the side process needs
for a statement that no door remembers: rules about statements, paths, sources and references; the last one decides.
Times are CPU times.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sparkconfig.agent import policy_calls
from sparkconfig.policy.engine import PolicyEngine
from sparkconfig.policy.request import OverrideRequest
from sparkconfig.settings.operator_file import OperatorFile

KINDS = (
    {"type": "range", "minValue": 1, "maxValue": 100},
    {"type": "regex", "pattern": "[a-z0-9]{1,20}"},
    {"type": "allowlist", "values": ["7", "8", "9"]},
    {"type": "unlimited"},
    {"type": "blocklist", "values": ["bad"]},
)


def document(count: int) -> dict[str, object]:
    exact = [{"key": f"spark.acme.k{n}", **KINDS[n % len(KINDS)]} for n in range(count * 4 // 5)]
    patterns = [
        {"key": f"spark.group{n}.*.limit", **KINDS[n % len(KINDS)]} for n in range(count - len(exact))
    ]
    return {"rules": [*exact, *patterns]}


def shared(count: int) -> dict[str, object]:
    """Rules of all kinds, of which only the last of each list fits."""
    each = count // 4
    own: dict[str, object] = {"jobTypes": ["sql"], "type": "allow"}
    return {
        "statements": [
            {**own, "statement": [f"own-{n}-*", "insert"] if n == each - 1 else f"own-{n}-*"}
            for n in range(each)
        ],
        "paths": [{**own, "path": f"s3a://lake/team{n}/*", "users": f"team{n}-*"} for n in range(each)],
        "sources": [{**own, "source": f"source{n}" if n < each - 1 else "jdbc"} for n in range(each)],
        "references": [
            {**own, "provider": "vault", "path": f"team{n}/*", "to": f"jdbc:postgresql://db{n}/shop"}
            for n in range(each)
        ],
    }


def measure_query(count: int) -> dict[str, float]:
    """Microseconds for one statement, and for one connection, with JSON both ways."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "policy.json"
        file.write_text(json.dumps(shared(count)))
        root = "spark.config.override.policy"
        settings = {root: "Rules", f"{root}.param.file": str(file), "spark.config.providers": "vault"}
        engine = PolicyEngine.from_operator({}, OperatorFile(file, settings))
        last = count // 4 - 1
        who = {"job_type": "sql", "user": f"team{last}-ana", "front": "thrift"}
        paths = [["path", f"s3a://lake/team{last}/t{n}", "read"] for n in range(3)]
        statement = {
            "op": "statement",
            **who,
            "items": [["statement", "insert", ""], ["source", "jdbc", "read"], *paths],
        }
        props = {
            "url": f"jdbc:postgresql://db{last}/shop?ssl=true", "dbtable": "orders", "user": "ana",
            "password": f"${{vault:team{last}/db:password}}",
        }  # fmt: skip
        options = {"op": "check", "scope": "source", "formats": ["jdbc"], **who, "props": props}
        connection = {"op": "connection", "formats": ["jdbc"], **who, "options": props}
        found = {}
        for name, question in (("statement", statement), ("options", options), ("connection", connection)):
            text = json.dumps(question)
            assert policy_calls.answer(engine, json.loads(text))["allowed"], name

            def ask(text: str = text) -> None:
                for _ in range(200):
                    json.dumps(policy_calls.answer(engine, json.loads(text)))

            found[f"query_{name}_{count}_rules_us"] = best(ask) / 200 * 1e6
        return found


def best(run: Callable[[], object], repeat: int = 7) -> float:
    times = []
    for _ in range(repeat):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return statistics.median(times)


def measure() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "policy.json"
        file.write_text(json.dumps(document(500)))
        root = "spark.config.override.policy"
        operator = OperatorFile(file, {root: "Rules", f"{root}.param.file": str(file)})

        def make() -> PolicyEngine:
            return PolicyEngine.from_operator({}, operator)

        props = {f"spark.acme.k{n}": "7" for n in range(700)}
        props |= {f"spark.group{n}.x.limit": "7" for n in range(100)}
        props |= {f"spark.free.k{n}": "x" for n in range(200)}
        request = OverrideRequest("bench", "batch", props=props, complete=True)
        engine = make()
        start = time.process_time()
        first = engine.check(request)
        first_ms = (time.process_time() - start) * 1e3
        assert first.allowed, first.message
        again = best(lambda: engine.check(request))
        one = OverrideRequest("bench", "sql", scope="session", props={"spark.acme.k1": "7"})
        none = OverrideRequest("bench", "sql", scope="session")
        question = json.dumps({"job_type": "sql", "scope": "session", "props": {"spark.acme.k1": "7"}})
        rounds = 5000
        one_us = best(lambda: [engine.check(one) for _ in range(rounds)]) / rounds * 1e6
        return {
            "load_500_rules_ms": best(make) * 1e3,
            "start_1000_confs_500_rules_first_ms": first_ms,
            "start_1000_confs_500_rules_again_ms": again * 1e3,
            "properties_per_second": len(props) / again,
            "check_one_property_us": one_us,
            "checks_per_second": 1e6 / one_us,
            "check_nothing_changed_us": best(lambda: [engine.check(none) for _ in range(rounds)])
            / rounds
            * 1e6,
            "json_one_property_us": best(
                lambda: [policy_calls.answer(engine, question) for _ in range(rounds)]
            )
            / rounds
            * 1e6,
            **measure_query(500),
            **measure_query(10_000),
        }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    found = measure()
    if parser.parse_args().json:
        print(json.dumps(found, indent=2))
    else:
        for name, value in found.items():
            print(f"{name:40} {value:12,.1f}")
