"""One module a source; each class in ALL is run by tests/assurance/real/test_sources.py."""

from __future__ import annotations

from real.sources.base import Source
from real.sources.cassandra import Cassandra, CassandraCatalog, CassandraLate, CassandraOptions
from real.sources.delta import Delta
from real.sources.hive import Hive
from real.sources.iceberg import IcebergCredential, IcebergRest, IcebergToken
from real.sources.mariadb import MariaDb
from real.sources.mongodb import MongoDb, MongoDbOptions
from real.sources.openlineage import OpenLineage
from real.sources.postgresql import PostgreSql
from real.sources.redis import Redis
from real.sources.s3 import Moto, SeaweedFs

ALL: tuple[type[Source], ...] = (
    PostgreSql,
    MariaDb,
    Moto,
    SeaweedFs,
    Delta,
    IcebergRest,
    IcebergToken,
    IcebergCredential,
    Hive,
    Redis,
    Cassandra,
    CassandraOptions,
    CassandraCatalog,
    CassandraLate,
    MongoDb,
    MongoDbOptions,
    OpenLineage,
)
