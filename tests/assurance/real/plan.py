"""What `make real` runs beside the sources: tests that meet a real server, and are part of another target too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Suite:
    """Files of tests that run as a whole on one Spark.

    Attributes:
        name: for ``python tests/assurance/real/run.py NAME``.
        title: for the docs.
        files: below ``tests``.
        sparks: the first two numbers of the Sparks that it runs on; empty: all.
        steps: which of write, read, rotate and leaks its tests do.
        orders: whether they do it with our session extension in front of those of others, and behind them.
    """

    name: str
    title: str
    files: Sequence[str]
    sparks: Sequence[str] = ()
    steps: Sequence[str] = ("write", "read", "rotate", "leaks")
    orders: bool = False


SUITES = (
    Suite(
        "hive-server", "Hive's metastore as a server (of Spark's jars), on PostgreSQL 16: JDBC tables, and files",
        ["real/test_hive_server.py"],
    ),
    Suite(
        "yarn", "YARN and HDFS 3.5.0, two nodes: client and cluster mode, operator's file, killed drivers, executors",
        ["real/test_yarn_nodes.py"],
    ),
    Suite(
        "cassandra-streams", "Cassandra 5.0.5, its connector 3.5.1: streams into its catalog, and foreachBatch",
        ["real/test_cassandra_streams.py"], ("3.5",), ("write", "read"),
    ),
    Suite(
        "kubernetes", "Spark's Kubernetes backend, client and cluster mode; API server and nodes are stand-ins of ours",
        ["real/test_kubernetes.py"],
    ),
    Suite(
        "hosts", "Standalone cluster of three hosts (network namespaces): a cut link, a killed driver, a worker gone",
        ["real/test_hosts.py", "real/test_hosts_users.py"], steps=("read", "rotate", "leaks"),
    ),
    Suite("kafka", "Kafka 3.9: SCRAM and OAUTHBEARER, batches and streams", ["spark/test_kafka_cluster.py"], ("4.3",)),
    Suite(
        "s3a", "S3 of moto, Cloud Storage and Azure's Data Lake (fakes), in the middle of tasks; S3A's other doors",
        ["spark/test_s3a.py"],
    ),
    Suite(
        "iceberg", "Iceberg 1.12: JDBC catalog on PostgreSQL, S3FileIO on moto, MERGE, procedures, streams",
        ["third_parties/test_iceberg.py"], ("3.5", "4.1"), orders=True,
    ),
    Suite(
        "keycloak", "Keycloak 26.4: client credentials, refresh, token exchange, its tokens as logins of OpenBao",
        ["real/test_keycloak.py"], ("4.3",), ("read", "rotate"),
    ),
    Suite(
        "beside", "Delta, Iceberg, OpenLineage, sparkMeasure and a user's plugin, on local tables",
        ["third_parties/test_third_parties.py"], ("3.5",), ("write", "read", "leaks"), orders=True,
    ),
    Suite(
        "openbao", "OpenBao: KV, AppRole, Kubernetes and JWT logins, dynamic roles of PostgreSQL",
        ["integration/stores/vault"], ("4.3",), ("read", "rotate"),
    ),
)  # fmt: skip
