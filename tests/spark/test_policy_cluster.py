"""Rules about references on executors: what Python workers there may ask for, the driver decides."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from leaks.support import jvm_jar
from sparkconfig._spark import driver
from support.policies import records, write_operator
from support.session import running_session
from support.shim import shim_jar

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    # pyspark 3.5 leaves the sockets to the garbage collector on which it collects RDDs.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

SECRET = "Canary-40cc7b-value"
RULES = {
    "rules": [{"key": "spark.executor.memory", "type": "range", "maxValue": "1g"}],
    "references": [
        {"type": "forbid", "provider": "files", "key": "admin"},
        {"type": "forbid", "provider": "files", "key": "clerk", "scopes": ["worker"]},
    ],
}


@pytest.fixture(scope="module")
def application(cluster, tmp_path_factory) -> Iterator[tuple[object, Path]]:
    from pyspark import cloudpickle

    # Workers cannot import this module: its functions travel as they are.
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    folder = tmp_path_factory.mktemp("policy-cluster")
    (folder / "shop.properties").write_text(
        f"password={SECRET}\nadmin={SECRET}\nclerk={SECRET}\nother={SECRET}\n"
    )
    # What the operator sets for everybody, a job may repeat.
    named = ",".join(f"files:*:{key}" for key in ("password", "admin", "clerk"))
    home = write_operator(folder, RULES, **cluster.security(), **{"spark.config.worker.references": named})
    conf = {
        **cluster.application(),
        "spark.jars": f"{shim_jar()},{jvm_jar()}",
        # In use, and so in every executor's snapshot.
        "spark.shop.clerk": f"${{files:{folder}/shop.properties:clerk}}",
    }
    env = {"PYSPARK_PYTHON": sys.executable, "SPARK_CONF_DIR": str(home)}
    with running_session(conf, folder=folder, env=env) as session:
        yield session, folder


def test_workers_get_what_the_policy_lets_them_ask_for_and_nothing_else(application) -> None:
    session, folder = application
    texts = {
        key: f"${{files:{folder}/shop.properties:{key}}}" for key in ("password", "admin", "clerk", "other")
    }
    assert driver.current(texts["clerk"]).reveal() == SECRET

    def ask(_rows):
        from sparkconfig.worker import _newest, current

        for key, text in texts.items():
            for again in ("", " again"):
                try:
                    yield key + again, current(text).reveal() != ""
                except Exception as error:
                    yield key + again, type(error).__name__
        yield "held", sorted(text.rpartition(":")[2] for text in _newest().values)

    both = session.sparkContext.parallelize(range(4), 4)
    found = [dict(part) for part in both.mapPartitions(lambda rows: [list(ask(rows))]).collect()]
    assert (
        found
        == [
            {
                "password": True,
                "password again": True,
                "admin": "PolicyViolation",
                "admin again": "PolicyViolation",
                "clerk": "PolicyViolation",
                "clerk again": "PolicyViolation",
                # The policy allows it; but the driver has not used it, and nothing names it for workers.
                "other": "UnresolvedReferenceError",
                "other again": "UnresolvedReferenceError",
                "held": ["password}"],
            }
        ]
        * 4
    )
    decided = {
        (r["decision"], r["subject"].rpartition(":")[2]) for r in records(folder) if r["scope"] == "worker"
    }
    assert decided == {
        ("allowed", "password}"),
        ("allowed", "other}"),
        ("denied", "admin}"),
        ("denied", "clerk}"),
    }


def test_code_in_an_executors_jvm_gets_by_name_what_the_driver_lets_it(application) -> None:
    """`clerk` is in the executors' snapshot, and the policy keeps it from those who ask there."""
    session, folder = application
    session.udf.registerJavaFunction("asks", "shop.Asks", "string")

    def asked(key: str) -> set[str]:
        text = f"${{files:{folder}/shop.properties:{key}}}"
        # A call with a constant would run on the driver, when the query is optimised.
        each = f"asks(concat('{text}', left(CAST(id AS STRING), 0))) AS found"
        rows = session.range(0, 4, 1, 4).selectExpr(each).collect()
        return {row.found for row in rows}

    assert asked("password") == {str(len(SECRET))}
    for key in ("clerk", "admin"):
        (message,) = asked(key)
        assert "the operator's policy does not allow" in message
    (message,) = asked("other")
    assert "spark.config.worker.references" in message
