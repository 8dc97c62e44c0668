"""Names before a colon in ``${...}`` that belong to others than our providers."""

from __future__ import annotations

__all__ = ["DEFAULT_FOREIGN", "SPARK_EXPANDED"]

SPARK_EXPANDED = frozenset({"env", "system", "spark", "sparkconf", "hivevar", "hiveconf"})
"""Names that Spark itself expands in SQL text and registered confs; no provider may have one of them."""

DEFAULT_FOREIGN = SPARK_EXPANDED | frozenset(
    {"sys", "ctx", "java", "date", "bundle", "map", "main", "marker", "lower", "upper", "sd", "event"}
    | {"k8s", "docker", "web"}
)
"""Names that Spark, Hadoop or log4j2 expand: ``${sys:user.home}`` is theirs, and no unknown provider."""
